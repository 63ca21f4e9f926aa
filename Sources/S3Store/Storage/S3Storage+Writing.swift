import HTTPClient
import HTTPStorage
package import PathStore
package import ReplicaModel
import SystemPackage

extension S3Storage {
    package func write(
        _ path: StoragePath, contents: ItemContents, attributes: PathAttributes, guard condition: WriteGuard
    ) async throws(PathStorageError) -> PathEntry {
        if let refusal = keys.refusal(of: path) { throw .refused(refusal) }
        return try await call(path, isChange: true) { () async throws(CallError) in
            switch condition {
            case .absent: try await self.create(path, contents, attributes)
            case .version(let version): try await self.replace(path, version, contents, attributes)
            }
        }
    }

    /// The type bits of a mode.
    static let (file, folder, symlink): (UInt32, UInt32, UInt32) = (0o100000, 0o040000, 0o120000)

    private func create(
        _ path: StoragePath, _ contents: ItemContents, _ attributes: PathAttributes
    ) async throws(CallError) -> PathEntry {
        try await makeRoom(for: path)
        let isParted = isParted(contents.size, isCreate: true)
        // If the server tests no condition, this check is the only one.
        if !abilities.createsExclusively || isParted && !abilities.completesConditionally,
            let object = try await head(path)
        {
            throw .storage(.taken(try await entry(path, object)))
        }
        let draft = Draft(
            headers: StoredObject.headers(
                metadata: StoredObject.metadata([:], attributes, type: Self.file), carried: [:]),
            condition: abilities.createsExclusively ? [("If-None-Match", "*")] : [])
        do throws(CallError) {
            return try await put(path, contents, draft, over: nil, isParted: isParted)
        } catch {
            guard case .request(let failure) = error, failure.isPreconditionFailed else { throw error }
            throw .storage(.taken(try await find(path)))
        }
    }

    private func replace(
        _ path: StoragePath, _ version: String, _ contents: ItemContents, _ attributes: PathAttributes
    ) async throws(CallError) -> PathEntry {
        guard let before = try await head(path) else {
            guard let other = try await folder(path) else { throw .storage(.notFound) }
            throw .storage(.changed(other))
        }
        guard before.tag == version, !before.isSymlink else {
            throw .storage(.changed(try await entry(path, before)))
        }
        let draft = Draft(
            headers: StoredObject.headers(
                metadata: StoredObject.metadata(before.metadata, attributes, type: Self.file), carried: before.headers),
            condition: abilities.condition(tag: version))
        do throws(CallError) {
            return try await put(
                path, contents, draft, over: before, isParted: isParted(contents.size, isCreate: false))
        } catch {
            guard case .request(let failure) = error else { throw error }
            if failure.isPreconditionFailed { throw .storage(.changed(try await find(path))) }
            if failure.isNotFound, try await find(path) == nil { throw .storage(.notFound) }
            throw error
        }
    }

    /// Checks whether an entry can be created at a path: its parent exists, and no folder has its name.
    func makeRoom(for path: StoragePath) async throws(CallError) {
        guard let parent = path.parent else { throw .storage(.taken(nil)) }
        async let own = isFolder(path)
        let above = parent == .root ? .success(true) : await isFolder(parent)
        guard try await own.get() == false else { throw .storage(.taken(try await folder(path))) }
        guard try above.get() else { throw .storage(.notFound) }
    }

    func isFolder(_ path: StoragePath) async -> Result<Bool, CallError> {
        do throws(CallError) {
            return .success(
                try await get { () async throws(S3Error) in try await connection.isAny(keys.folder(path)) })
        } catch {
            return .failure(error)
        }
    }

    private func isParted(_ size: Int64, isCreate: Bool) -> Bool {
        let isConditional = isCreate ? abilities.createsExclusively : abilities.replaceForm != nil
        return size > (isConditional && !abilities.completesConditionally ? limits.whole : limits.parted - 1)
    }

    // MARK: Sending

    /// The headers of an object, and the condition for writing it.
    struct Draft: Sendable {
        var headers: [(name: String, value: String)]
        var condition: [(name: String, value: String)]
    }

    /// - Parameter before: The object that is replaced; nil for a new one.
    private func put(
        _ path: StoragePath, _ contents: ItemContents, _ draft: Draft, over before: StoredObject?, isParted: Bool
    ) async throws(CallError) -> PathEntry {
        let tag: String?
        var parts: LargeUpload.Outcome?
        if isParted {
            parts = try await LargeUpload(self, path, contents, draft, over: before).run()
            tag = parts?.tag
        } else {
            var request = S3Request("PUT", keys.key(path))
            request.headers = draft.headers + draft.condition
            // An empty content needs no file.
            request.body = contents.size == 0 ? .none : .file(contents.file.rawValue, 0..<contents.size)
            (request.sent, request.longestSilence) = (contents.progress, 120)
            let sent = request
            let answer = try await get { () async throws(S3Error) in try await connection.send(sent) }
            tag = EntityTag.value(answer.head["etag"] ?? "")
        }
        guard let object = try await head(path) else {
            throw .storage(.unreachable("\(path): it disappeared right after it was written"))
        }
        // Another client may have written at the same time: its content would be recorded under our version and never
        // be fetched.
        guard object.isWritten(tag: tag, size: contents.size) else {
            throw .storage(.unreachable("\(path): another client has written it since"))
        }
        // It may be another client's of the same size.
        if let parts, parts.tag == object.tag { partNotes.keepWhole(keys.key(path), object, parts) }
        return try await entry(path, object)
    }

    /// Begins a multipart upload, and aborts it if it is not completed: now, or when the server is reached again.
    func uploading(
        _ key: [UInt8], _ headers: [(name: String, value: String)],
        _ body: (MultipartUpload) async throws(S3Error) -> String?
    ) async throws(CallError) -> String? {
        let (upload, name) = try await begin(key, headers)
        do throws(S3Error) {
            let tag = try await body(upload)
            await end(name)
            return tag
        } catch {
            leftovers.leave(.upload(name))
            await clear(.upload(name))
            throw .request(error)
        }
    }

    /// Begins a multipart upload, which is an entry of the leftovers in flight until its end.
    func begin(
        _ key: [UInt8], _ headers: [(name: String, value: String)]
    ) async throws(CallError) -> (MultipartUpload, MultipartUpload.Name) {
        let unnamed = MultipartUpload.Name(key: key, begin: connection.now)
        leftovers.add(.upload(unnamed))
        do throws(S3Error) {
            let upload = try await MultipartUpload.begin(connection, key, headers)
            var name = unnamed
            name.identifier = upload.identifier
            leftovers.add(.upload(name))
            leftovers.remove(.upload(unnamed))
            await announce(name)
            return (upload, name)
        } catch {
            // An upload whose identifier is unknown is found later, when all uploads on the server are listed.
            leftovers.leave(.upload(unnamed))
            throw .request(error)
        }
    }

    /// Uploads all parts, several at a time.
    /// - Returns: Their ETags, in order.
    func inParts(
        _ parts: [Range<Int64>], _ body: @escaping @Sendable (Int, Range<Int64>) async throws(S3Error) -> String
    ) async throws(S3Error) -> [String] {
        let outcome = await withTaskGroup(of: (Int, Result<String, S3Error>).self) { group in
            var (next, tags, failure) = (0, [String](repeating: "", count: parts.count), S3Error?.none)
            func start() {
                let (index, range) = (next, parts[next])
                next += 1
                group.addTask {
                    do throws(S3Error) { return (index, .success(try await body(index + 1, range))) } catch {
                        return (index, .failure(error))
                    }
                }
            }
            while next < min(limits.together, parts.count) { start() }
            while let (index, answer) = await group.next() {
                switch answer {
                case .success(let tag): tags[index] = tag
                case .failure(let error):
                    failure = failure ?? error
                    group.cancelAll()
                }
                if failure == nil, next < parts.count { start() }
            }
            return failure.map { Result<[String], S3Error>.failure($0) } ?? .success(tags)
        }
        return try outcome.get()
    }
}
