import HTTPClient
import HTTPStorage
package import PathStore
import PercentEncoding
import ReplicaModel

extension S3Storage {
    package func make(
        _ path: StoragePath, kind: PathKind, attributes: PathAttributes
    ) async throws(PathStorageError) -> PathEntry {
        if let refusal = keys.refusal(of: path) { throw .refused(refusal) }
        return try await call(path, isChange: true) { () async throws(CallError) in
            switch kind {
            case .file: throw .storage(.unsupported("files are created by writing them"))
            case .folder: try await self.makeFolder(path, attributes)
            case .symlink(let target): try await self.makeSymlink(path, target, attributes)
            }
        }
    }

    private func makeFolder(_ path: StoragePath, _ attributes: PathAttributes) async throws(CallError) -> PathEntry {
        try await makeRoom(for: path)
        if let object = try await head(path) { throw .storage(.taken(try await entry(path, object))) }
        do throws(CallError) { try await putMarker(path, attributes, isNew: true) } catch {
            guard case .request(let failure) = error, failure.isPreconditionFailed else { throw error }
            throw .storage(.taken(try await find(path)))
        }
        guard let entry = try await folder(path) else { throw strange(path) }
        return entry
    }

    /// Writes the object that represents a folder: it has its attributes, and keeps it while it is empty.
    private func putMarker(
        _ path: StoragePath, _ attributes: PathAttributes, _ former: StoredObject? = nil, isNew: Bool
    ) async throws(CallError) {
        var request = S3Request("PUT", keys.folder(path))
        var carried = former?.headers ?? [:]
        carried["content-type"] = "application/x-directory"
        request.headers = StoredObject.headers(
            metadata: StoredObject.metadata(former?.metadata ?? [:], attributes, type: Self.folder), carried: carried)
        if isNew, abilities.createsExclusively { request.headers.append(("If-None-Match", "*")) }
        let sent = request
        _ = try await get { () async throws(S3Error) in try await connection.send(sent) }
    }

    private func makeSymlink(
        _ path: StoragePath, _ target: [UInt8], _ attributes: PathAttributes
    ) async throws(CallError) -> PathEntry {
        guard (1...4_095).contains(target.count) else {
            throw .storage(.refused("the target of the symbolic link is not valid"))
        }
        try await makeRoom(for: path)
        if !abilities.createsExclusively, let object = try await head(path) {
            throw .storage(.taken(try await entry(path, object)))
        }
        var all = attributes
        all.mode = 0o777
        var request = S3Request("PUT", keys.key(path))
        request.headers = StoredObject.headers(
            metadata: StoredObject.metadata([:], all, type: Self.symlink), carried: [:])
        if abilities.createsExclusively { request.headers.append(("If-None-Match", "*")) }
        request.body = .bytes(target)
        let sent = request
        do throws(CallError) {
            _ = try await get { () async throws(S3Error) in try await connection.send(sent) }
        } catch {
            guard case .request(let failure) = error, failure.isPreconditionFailed else { throw error }
            throw .storage(.taken(try await find(path)))
        }
        guard let entry = try await find(path), entry.kind == .symlink(target) else { throw strange(path) }
        return entry
    }

    package func set(_ attributes: PathAttributes, of path: StoragePath) async throws(PathStorageError) -> PathEntry {
        if let refusal = keys.refusal(of: path) { throw .refused(refusal) }
        return try await call(path, isChange: true) { () async throws(CallError) in
            var tag: String?
            if path != .root, let object = try await self.head(path) {
                tag = try await self.set(attributes, path, object)
            } else {
                guard path == .root ? !self.keys.base.isEmpty : try await self.folder(path) != nil else {
                    throw .storage(path == .root ? .unsupported("a bucket's attributes") : .notFound)
                }
                let key = self.keys.folder(path)
                let former = try await self.get { () async throws(S3Error) in try await self.connection.object(key) }
                try await self.setMarker(path, attributes, former)
            }
            guard let entry = try await self.find(path) else { throw .storage(.notFound) }
            // Another client may have written since: its content would be recorded as the one that was known.
            if let tag, entry.version.map({ $0 != tag }) ?? false {
                throw .storage(.unreachable("\(path): another client has written it since"))
            }
            return entry
        }
    }

    /// Writes a folder's object with other attributes. The content that other programs gave it stays.
    private func setMarker(
        _ path: StoragePath, _ attributes: PathAttributes, _ former: StoredObject?
    ) async throws(CallError) {
        guard let former, former.size > 0 else {
            return try await putMarker(path, attributes, former, isNew: false)
        }
        let key = keys.folder(path)
        try await copy(
            key, former, to: key,
            metadata: StoredObject.metadata(former.metadata, attributes, type: Self.folder))
    }

    /// Copies the object onto itself, so that the content is the current one, even if another client wrote it.
    /// - Returns: Its ETag, if it is known.
    private func set(
        _ attributes: PathAttributes, _ path: StoragePath, _ object: StoredObject
    ) async throws(CallError) -> String? {
        var wanted = attributes
        if object.isSymlink { wanted.mode = nil }
        let metadata = StoredObject.metadata(
            object.lastingMetadata, wanted, type: object.isSymlink ? Self.symlink : Self.file)
        guard metadata != object.metadata else { return object.tag }
        return try await copy(keys.key(path), object, to: keys.key(path), metadata: metadata)
    }

    // MARK: Copies

    /// Copies an object on the server.
    /// - Parameter metadata: Replaces the metadata; nil keeps the object's.
    /// - Returns: The copy's ETag, if it is known. Some servers do not check that the object is still the one
    ///   that was read.
    @discardableResult
    func copy(
        _ source: [UInt8], _ object: StoredObject, to target: [UInt8], metadata: [String: String]?,
        condition: [(name: String, value: String)] = []
    ) async throws(CallError) -> String? {
        let from = copySource(source)
        if object.size > limits.copied {
            return try await copyParts(from, source, object, to: target, metadata ?? object.metadata)
        }
        var request = S3Request("PUT", target)
        request.headers =
            [("x-amz-copy-source", from), ("x-amz-copy-source-if-match", "\"\(object.tag)\"")] + condition
        if let metadata {
            request.headers.append(("x-amz-metadata-directive", "REPLACE"))
            request.headers += StoredObject.headers(metadata: metadata, carried: object.headers)
        }
        request.longestSilence = 300
        let sent = request
        return try await get { () async throws(S3Error) in
            let answer = try await connection.send(sent)
            guard let result = XMLReader.read(answer.body), result.name == "CopyObjectResult" else {
                throw connection.error(in: answer)
            }
            return EntityTag.value(result["ETag"]?.text ?? "")
        }
    }

    /// A key as the source of a copy.
    func copySource(_ key: [UInt8]) -> String { connection.copySource(key) }

    private func copyParts(
        _ source: String, _ key: [UInt8], _ object: StoredObject, to target: [UInt8], _ metadata: [String: String]
    ) async throws(CallError) -> String? {
        let headers = StoredObject.headers(metadata: metadata, carried: object.headers)
        return try await uploading(target, headers) { upload async throws(S3Error) in
            var large = limits
            large.part = min(limits.copied, 512 << 20)
            let tags = try await inParts(large.parts(of: object.size)) { (number, range) async throws(S3Error) in
                try await upload.copy(number, from: source, tag: object.tag, range)
            }
            // Not every server tests the tag of a part: parts of two objects are no file.
            guard try await connection.object(key)?.tag == object.tag else { throw .preconditionFailed }
            return try await upload.complete(tags, [])
        }
    }

    // MARK: Removing

    package func remove(_ path: StoragePath, version: String?) async throws(PathStorageError) {
        guard keys.refusal(of: path) == nil, path != .root else { return }
        try await call(path, isChange: true) { () async throws(CallError) in
            guard let object = try await self.head(path) else { return try await self.removeFolder(path, version) }
            guard object.isSymlink == (version == nil), version == nil || object.tag == version else {
                throw .storage(.changed(try await self.entry(path, object)))
            }
            try await self.removeObject(path, object)
        }
    }

    /// Removes an object that was just read, and keeps its folder.
    func removeObject(_ path: StoragePath, _ object: StoredObject) async throws(CallError) {
        try await keepFolder(above: path)
        guard try await !delete(keys.key(path), object.tag) else { return }
        if let entry = try await find(path) { throw .storage(.changed(entry)) }
    }

    private func removeFolder(_ path: StoragePath, _ version: String?) async throws(CallError) {
        let key = keys.folder(path)
        let page = try await get { () async throws(S3Error) in
            try await connection.list(key, isDeep: true, from: nil, most: 2)
        }
        guard !page.objects.isEmpty else { return }
        if version != nil { throw .storage(.changed(try await folder(path))) }
        guard page.objects.count == 1, page.next == nil, let marker = page.objects.first, isMarker(marker, of: key)
        else {
            throw .storage(.notEmpty)
        }
        try await keepFolder(above: path)
        guard try await delete(key, marker.tag) else { throw .storage(.notEmpty) }
    }

    /// Creates an object for the folder above if its only entry is being removed: otherwise the folder would disappear
    /// as well.
    func keepFolder(above path: StoragePath) async throws(CallError) {
        guard let parent = path.parent, parent != .root else { return }
        let page = try await get { () async throws(S3Error) in
            try await connection.list(keys.folder(parent), isDeep: true, from: nil, most: 2)
        }
        let (file, folder) = (keys.key(path), keys.folder(path))
        guard page.objects.allSatisfy({ $0.key == file || $0.key.starts(with: folder) }) else { return }
        do throws(CallError) { try await putMarker(parent, PathAttributes(), isNew: true) } catch {
            guard case .request(let failure) = error, failure.isPreconditionFailed else { throw error }
        }
    }
}
