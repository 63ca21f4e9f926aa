import HTTPClient
import HTTPStorage
import PathStore
import PercentEncoding

/// Removing an object in the state that was read, and no other.
extension S3Storage {
    /// Removes an object if it has this ETag. Servers that test ETags do it in one step. On other servers, if the bucket keeps
    /// versions, the version that the removal has hidden is checked afterwards, and restored if it is not the one that was read here.
    /// - Returns: False if another client has written the object since: then it stays.
    func delete(_ key: [UInt8], _ tag: String, mayRepeat: Bool = false) async throws(CallError) -> Bool {
        var request = S3Request("DELETE", key)
        request.mayRepeat = mayRepeat
        if abilities.removesConditionally { request.headers = [("If-Match", "\"\(tag)\"")] }
        let sent = request
        let answer: HTTPAnswer
        do throws(CallError) {
            answer = try await get { () async throws(S3Error) in try await connection.send(sent) }
        } catch {
            guard case .request(let failure) = error else { throw error }
            if failure.isPreconditionFailed { return false }
            guard failure.isNotFound else { throw error }
            let now = try await get { () async throws(S3Error) in try await connection.object(key) }
            guard now == nil else { throw error }
            return true
        }
        guard !abilities.removesConditionally, answer.head["x-amz-delete-marker"] == "true",
            let marker = answer.head["x-amz-version-id"], marker != "null"
        else { return true }
        return try await isLast(tag, below: marker, key)
    }

    /// Whether a marker of our removal hides the version with this ETag. If it hides another one, the marker is removed.
    private func isLast(_ tag: String, below marker: String, _ key: [UInt8]) async throws(CallError) -> Bool {
        do throws(CallError) {
            return try await get { () async throws(S3Error) in
                guard let last = try await connection.lastTag(of: key), last != tag else { return true }
                var request = S3Request("DELETE", key)
                (request.query, request.mayRepeat) = ([("versionId", marker)], true)
                _ = try await connection.send(request)
                return false
            }
        } catch {
            // These keys may not look at versions: what was hidden, if anything, is in the bucket.
            guard case .request(.complaint(let complaint)) = error, [403, 405, 501].contains(complaint.status) else {
                throw error
            }
            return true
        }
    }
}

extension S3Connection {
    /// The ETag of an object's newest version that is not a removal; nil if none is listed.
    func lastTag(of key: [UInt8]) async throws(S3Error) -> String? {
        var request = S3Request("GET")
        request.query = [
            ("versions", ""), ("encoding-type", "url"), ("max-keys", "100"),
            ("prefix", String(decoding: key, as: UTF8.self)),
        ]
        request.longestAnswer = 1 << 20
        let answer = try await send(request)
        guard let root = XMLReader.read(answer.body), root.name == "ListVersionsResult" else {
            throw .failure(.unreachable("the server's listing is not valid S3, or incomplete"))
        }
        let isEncoded = root["EncodingType"]?.text == "url"
        // The newest version of a key comes first, and the key before those that begin with it.
        let version = root.children.first { element in
            guard element.name == "Version", let text = element["Key"]?.text else { return false }
            return (isEncoded ? PercentText.decoded(text, plusIsSpace: true) : Array(text.utf8)) == key
        }
        return version.flatMap { EntityTag.value($0["ETag"]?.text ?? "") }
    }
}
