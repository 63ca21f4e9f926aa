import HTTPClient
import HTTPStorage

/// Tests a server's handling of conditions, with an object of the store's own.
struct ServerTrial {
    let connection: S3Connection
    let key: [UInt8]

    /// An ETag that no object has.
    private static let other = "00000000000000000000000000000000"
    private static let any = (name: "If-None-Match", value: "*")

    func run() async throws(S3Error) -> ServerAbilities {
        var abilities = ServerAbilities()
        // Servers that know the condition accept this; others refuse it or ignore it.
        if try await outcome({ () async throws(S3Error) in try await put([Self.any]) }) == .refused {
            _ = try await put([])
            abilities.createsExclusively = false
        } else {
            abilities.createsExclusively =
                try await outcome { () async throws(S3Error) in try await put([Self.any]) } == .failed
        }
        if abilities.createsExclusively { abilities.refusesConditionalCopies = try await refusesConditionalCopies() }
        abilities.replaceForm = try await replaceForm()
        abilities.completesConditionally = try await completes()
        abilities.removesConditionally =
            try await outcome { () async throws(S3Error) in
                var request = S3Request("DELETE", key)
                request.headers = [("If-Match", "\"\(Self.other)\"")]
                _ = try await connection.send(request)
            } == .failed
        _ = try await connection.send(S3Request("DELETE", key))
        try await demandFolders()
        return abilities
    }

    /// Empty folders are objects whose names end with a slash. A server that drops the slash makes them files.
    private func demandFolders() async throws(S3Error) {
        let file = key + Array("-folder".utf8)
        let folder = file + Array("/".utf8)
        guard try await isDone(S3Request("PUT", folder)) else { return }
        // A listing may lag behind, so that a missing folder alone proves nothing.
        let isFile = try await connection.head(file) != nil
        let isFolder = try await connection.list(folder, isDeep: true, from: nil, most: 1).objects.first?.key == folder
        for made in [file, folder] { _ = try await isDone(S3Request("DELETE", made)) }
        guard !isFile || isFolder else {
            throw .failure(
                .refused("the server makes a file of an empty folder: reach its files by another protocol than S3"))
        }
    }

    /// Whether the server carries out a request, rather than refusing it.
    private func isDone(_ request: S3Request) async throws(S3Error) -> Bool {
        do throws(S3Error) { _ = try await connection.send(request) } catch {
            guard case .complaint = error else { throw error }
            return false
        }
        return true
    }

    /// The outcome of a condition.
    private enum Outcome {
        case done, failed, refused
    }

    private func outcome(_ body: () async throws(S3Error) -> Void) async throws(S3Error) -> Outcome {
        do throws(S3Error) {
            try await body()
            return .done
        } catch {
            if error.isPreconditionFailed { return .failed }
            // An answer without S3's error code does not come from the server.
            guard case .complaint(let complaint) = error, [400, 501].contains(complaint.status), !complaint.code.isEmpty
            else { throw error }
            return .refused
        }
    }

    private func put(_ headers: [(name: String, value: String)]) async throws(S3Error) {
        var request = S3Request("PUT", key)
        request.headers = headers
        _ = try await connection.send(request)
    }

    /// Whether a copy to a free place fails if it must not replace anything.
    private func refusesConditionalCopies() async throws(S3Error) -> Bool {
        let target = key + Array("-copy".utf8)
        let outcome = try await outcome { () async throws(S3Error) in
            var request = S3Request("PUT", target)
            request.headers = [("x-amz-copy-source", connection.copySource(key)), Self.any]
            let answer = try await connection.send(request)
            guard XMLReader.read(answer.body)?.name == "CopyObjectResult" else { throw connection.error(in: answer) }
        }
        // A copy that was made and then sent again is refused, too.
        let isMade = try await connection.object(target) != nil
        _ = try await connection.send(S3Request("DELETE", target))
        return outcome != .done && !isMade
    }

    private func replaceForm() async throws(S3Error) -> ServerAbilities.TagForm? {
        guard let tag = try await connection.object(key)?.tag else { return nil }
        func replace(_ value: String) async throws(S3Error) -> Outcome {
            try await outcome { () async throws(S3Error) in try await put([("If-Match", value)]) }
        }
        guard try await replace("\"\(Self.other)\"") == .failed else { return nil }
        if try await replace("\"\(tag)\"") == .done { return .quoted }
        guard try await replace(Self.other) == .failed, try await replace(tag) == .done else { return nil }
        return .bare
    }

    /// Whether completing a multipart upload fails if an object already exists.
    private func completes() async throws(S3Error) -> Bool {
        do throws(S3Error) {
            let upload = try await MultipartUpload.begin(connection, key, [])
            let outcome: Outcome
            do throws(S3Error) {
                let tag = try await upload.send(1, .bytes([0]), sent: nil)
                outcome = try await self.outcome { () async throws(S3Error) in
                    try await upload.complete([tag], [Self.any])
                }
            } catch {
                await upload.abort()
                throw error
            }
            if outcome != .done { await upload.abort() }
            return outcome == .failed
        } catch {
            // A server without multipart uploads completes none.
            guard case .complaint(let complaint) = error, [400, 403, 404, 405, 501].contains(complaint.status),
                !complaint.code.isEmpty
            else { throw error }
            return false
        }
    }
}
