import HTTPClient
import HTTPStorage

/// The object by which the replicas of a bucket tell each other of changes, `.replica/changes`: one for all of them. It exists only
/// for minutes after a change.
struct HintObject: Sendable {
    /// The state of the object.
    struct Seen: Hashable, Sendable {
        var tag: String
        var size: Int64
        /// In a bucket with versions.
        var version: String?
    }

    let connection: S3Connection
    let key: [UInt8]
    let abilities: ServerAbilities

    /// - Returns: Nil if there is none.
    func look() async throws(S3Error) -> Seen? {
        let head: HTTPHead
        do throws(S3Error) { head = try await send(S3Request("HEAD", key)).head } catch {
            guard case .complaint(let complaint) = error, complaint.status == 404 else { throw error }
            return nil
        }
        guard let object = StoredObject(head) else {
            throw .strange
        }
        return Seen(tag: object.tag, size: object.size, version: head["x-amz-version-id"])
    }

    /// - Returns: Nil if it is not a valid text.
    func text(_ seen: Seen) async throws(S3Error) -> HintText? {
        guard seen.size <= HintText.longest else { return nil }
        var request = S3Request("GET", key)
        request.longestAnswer = HintText.longest
        return HintText(try await send(request).body)
    }

    /// Replaces the object in the state that was seen, or writes it if there was none.
    /// - Parameter isConditional: Whether that state is tested, as far as the server can do that.
    func write(_ text: HintText, over seen: Seen?, isConditional: Bool) async throws(S3Error) {
        var request = S3Request("PUT", key)
        request.headers = [("content-type", "text/plain; charset=utf-8")]
        if let seen, isConditional {
            request.headers += abilities.condition(tag: seen.tag)
        } else if isConditional, abilities.createsExclusively {
            request.headers.append(("If-None-Match", "*"))
        }
        request.body = .bytes(text.bytes)
        _ = try await send(request)
        if let version = seen?.version, version != "null" { try await remove(version: version) }
    }

    /// Removes the object in the state that was seen. In a bucket with versions, nothing of it stays.
    func remove(_ seen: Seen) async throws(S3Error) {
        if let version = seen.version, version != "null" { return try await remove(version: version) }
        guard try await look()?.tag == seen.tag else { return }
        var request = S3Request("DELETE", key)
        if abilities.removesConditionally { request.headers = [("If-Match", "\"\(seen.tag)\"")] }
        let answer = try await send(request).head
        // Where versions are suspended, a removal leaves a mark.
        if answer["x-amz-delete-marker"] == "true" { try await remove(version: answer["x-amz-version-id"] ?? "null") }
    }

    private func remove(version: String) async throws(S3Error) {
        var request = S3Request("DELETE", key)
        (request.query, request.mayRepeat) = ([("versionId", version)], true)
        _ = try await send(request)
    }

    /// A hint is not worth a long wait, and is not the progress of a call.
    private func send(_ request: S3Request) async throws(S3Error) -> HTTPAnswer {
        var request = request
        (request.longestSilence, request.isProgress) = (10, false)
        return try await connection.send(request)
    }
}
