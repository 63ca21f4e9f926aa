import HTTPClient
import HTTPStorage
package import PathStore
import ReplicaModel

extension S3Connection {
    /// A page of the keys that begin with a prefix.
    /// - Parameters:
    ///   - isDeep: Whether keys with a slash after the prefix are listed themselves, rather than combined up to the
    ///     slash.
    ///   - token: The token of this page; nil for the first page.
    func list(
        _ prefix: [UInt8], isDeep: Bool, from token: String?, most: Int = 1_000
    ) async throws(S3Error) -> ListAnswer {
        var request = S3Request("GET")
        request.query = [
            ("list-type", "2"), ("encoding-type", "url"), ("max-keys", "\(most)"),
            ("prefix", String(decoding: prefix, as: UTF8.self)),
        ]
        if !isDeep { request.query.append(("delimiter", "/")) }
        if let token { request.query.append(("continuation-token", token)) }
        request.longestAnswer = XMLReader.Limits().bytes
        let answer = try await send(request)
        guard let page = ListAnswer(answer.body, bucket: address.bucket, prefix: prefix),
            page.next == nil || page.next != token
        else { throw .failure(.unreachable("the server's listing is not valid S3, or incomplete")) }
        return page
    }

    /// An object's metadata; nil if the server returns "not found", which alone proves nothing.
    func head(_ key: [UInt8]) async throws(S3Error) -> StoredObject? {
        let answer: HTTPAnswer
        do throws(S3Error) { answer = try await send(S3Request("HEAD", key)) } catch {
            guard case .complaint(let complaint) = error else { throw error }
            if complaint.status == 404 { return nil }
            // An answer to HEAD contains no reason; a listing does.
            if complaint.status == 403 || complaint.status == 400 {
                _ = try await list(key, isDeep: true, from: nil, most: 1)
            }
            throw error
        }
        guard let object = StoredObject(answer.head) else {
            throw .strange
        }
        return object
    }

    /// An object's metadata. Nil proves that there is none: it would have been the first in a valid listing.
    func object(_ key: [UInt8]) async throws(S3Error) -> StoredObject? {
        if let object = try await head(key) { return object }
        guard try await list(key, isDeep: true, from: nil, most: 1).objects.first?.key != key else {
            throw .failure(.unreachable("the server lists an object but does not find it"))
        }
        return nil
    }

    /// Whether any key begins with this; false is a proof.
    func isAny(_ prefix: [UInt8]) async throws(S3Error) -> Bool {
        let page = try await list(prefix, isDeep: true, from: nil, most: 1)
        return !page.objects.isEmpty
    }
}

extension S3Storage {
    package func entry(at path: StoragePath) async throws(PathStorageError) -> PathEntry? {
        guard keys.refusal(of: path) == nil else { return nil }
        return try await call(path, isChange: false) { () async throws(CallError) in try await self.find(path) }
    }

    /// The entry at a path.
    func find(_ path: StoragePath) async throws(CallError) -> PathEntry? {
        if path == .root {
            _ = try await get { () async throws(S3Error) in try await connection.isAny(keys.base) }
            return PathEntry(path: path, kind: .folder)
        }
        if let object = try await head(path) { return try await entry(path, object) }
        return try await folder(path)
    }

    /// The metadata of the object at a path. Nil proves that there is none.
    func head(_ path: StoragePath) async throws(CallError) -> StoredObject? {
        try await get { () async throws(S3Error) in try await connection.object(keys.key(path)) }
    }

    /// The folder at a path. Nil proves that there is none.
    func folder(_ path: StoragePath) async throws(CallError) -> PathEntry? {
        let key = keys.folder(path)
        let page = try await get { () async throws(S3Error) in
            try await connection.list(key, isDeep: true, from: nil, most: 1)
        }
        guard let first = page.objects.first else { return nil }
        var entry = PathEntry(path: path, kind: .folder)
        // The folder's own object, if it has one, is the first of all keys with its prefix.
        guard first.key == key else { return entry }
        let marker = try await get { () async throws(S3Error) in try await connection.object(key) }
        entry.attributes = marker?.attributes(isFolder: true) ?? PathAttributes()
        return entry
    }

    /// The entry for an object.
    func entry(_ path: StoragePath, _ object: StoredObject) async throws(CallError) -> PathEntry {
        let attributes = object.attributes(isFolder: false)
        guard object.isSymlink else {
            return PathEntry(
                path: path, kind: .file, version: object.tag, size: object.size, attributes: attributes, isSettled: true
            )
        }
        var request = S3Request("GET", keys.key(path))
        request.longestAnswer = 4_096
        let sent = request
        let answer = try await get { () async throws(S3Error) in try await connection.send(sent) }
        // Another client may have written it since, and an invalid object is not a target.
        guard StoredObject(answer.head)?.tag == object.tag, answer.body.count == object.size else {
            throw strange(path)
        }
        return PathEntry(path: path, kind: .symlink(answer.body), attributes: attributes)
    }
}
