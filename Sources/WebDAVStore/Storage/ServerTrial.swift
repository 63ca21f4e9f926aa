import Foundation
import Glibc
import HTTPClient
import HTTPStorage
import PathStore
import ReplicaModel

/// Tests a server's features, with files of the store's own in its folder, which are removed afterwards.
struct ServerTrial: Sendable {
    /// The result.
    struct Outcome: Sendable {
        var abilities = ServerAbilities()
        /// Whether everything was tested: an untested feature counts as missing, and is tested again later.
        var isWhole = true
    }

    let connection: WebDAVConnection
    private let base = "\(WebDAVStorage.temporaryPrefix)trial-\(getpid())-\(UInt64.random(in: 0 ... .max))"
    let begin = ContinuousClock.now
    let timeLimit: Duration
    /// How long the server may take, at least, to read a request whose connection ended, and to finish what it wrote.
    let noticeTime: Duration
    private static let other = "\"replica-no-such-tag\""

    private init(_ connection: WebDAVConnection, _ timeLimit: Duration, _ noticeTime: Duration) {
        (self.connection, self.timeLimit, self.noticeTime) = (connection, timeLimit, noticeTime)
    }

    /// Runs the tests. If nothing may be written, the safest assumptions are made.
    static func run(
        _ connection: WebDAVConnection, timeLimit: Duration, noticeTime: Duration
    ) async throws(WebDAVError) -> Outcome {
        let trial = ServerTrial(connection, timeLimit, noticeTime)
        do throws(WebDAVError) {
            let outcome = try await trial.run()
            await trial.tidy()
            return outcome
        } catch {
            await trial.tidy()
            guard case .complaint(let complaint) = error, [403, 405, 423, 501, 507].contains(complaint.status) else {
                throw error
            }
            return Outcome(abilities: ServerAbilities(), isWhole: false)
        }
    }

    private func run() async throws(WebDAVError) -> Outcome {
        var abilities = ServerAbilities()
        let any = (name: "If-None-Match", value: "*")
        try await put("a", "one")
        let first = try await made("a")
        let cut = try await cutUpload()
        abilities.hasTags = first.tag != nil
        abilities.createsConditionally = try await isRefused { () async throws(WebDAVError) in
            try await put("a", "one", [any])
        }
        abilities.replacesConditionally = try await isRefused { () async throws(WebDAVError) in
            try await put("a", "one", [("If-Match", Self.other)])
        }
        abilities.hasNumbers = first.cloud.number != nil
        abilities.isExact = try await isExact(abilities)
        abilities.answersTags = try await answersTags()
        abilities.keepsProperties = try await keepsProperties()
        abilities.fetchesRanges = try await fetchesRanges()
        abilities.isCaseSensitive = try await !isThere(name("a", isUpper: true))
        try await put("b", "two")
        // A move that was carried out and then sent again was refused, too.
        abilities.keepsTargets = try await isRefused { () async throws(WebDAVError) in try await move("a", to: "b") }
        if abilities.keepsTargets { abilities.keepsTargets = try await isThere(name("a")) }
        abilities.makesParents = try await makesParents()
        abilities.takesControls = try await takesControls()
        abilities.makesExclusively = try await makesExclusively()
        abilities.foldersTellChanges = try await foldersTellChanges()
        try await put("a", "one")
        abilities.movesConditionally = try await isRefused { () async throws(WebDAVError) in
            try await move("a", to: "c", [("If-Match", Self.other)])
        }
        if abilities.movesConditionally { abilities.movesConditionally = try await isThere(name("a")) }
        try await put("a", "one")
        abilities.removesConditionally = try await isRefused { () async throws(WebDAVError) in
            var request = WebDAVRequest("DELETE", [name("a")])
            request.headers = [("If-Match", Self.other)]
            _ = try await connection.send(request)
        }
        var outcome = Outcome(abilities: abilities)
        try await race(&outcome)
        if let cut { outcome.abilities.writesWhole = try await isUnchanged(cut) }
        return outcome
    }

    /// Writes contents of one size until two were written within one second of the server's clock.
    private func isExact(_ abilities: ServerAbilities) async throws(WebDAVError) -> Bool {
        var before: Resource?
        // If the client sets a file's time, two contents can have the same time at any distance.
        let time = abilities.hasNumbers ? [(name: "X-OC-Mtime", value: "1000000000")] : []
        for number in 0..<5 {
            try await put("a", "v\(number)", time)
            let now = try await made("a")
            guard now.tag != nil else { return false }
            if let before {
                if now.version == before.version { return false }
                if now.modified == before.modified { return true }
            }
            before = now
        }
        return false
    }

    private func answersTags() async throws(WebDAVError) -> Bool {
        for text in ["one", "other"] {
            let told = try await put("a", text)
            guard let told, try await made("a").tag == told else { return false }
        }
        return true
    }

    private func keepsProperties() async throws(WebDAVError) -> Bool {
        let before = try await made("a")
        var note = Resource.Note()
        (note.mode, note.dateOf) = (0o751, before.version)
        note.date = Timestamp(seconds: 1_000_000_000, nanoseconds: 123_456_789)
        let values = note.properties
        let isTaken = try await isDone { () async throws(WebDAVError) in
            try await connection.patch([name("a")], isFolder: false, values)
        }
        guard isTaken else { return false }
        let now = try await made("a")
        return now.note == note && now.version == before.version
    }

    /// Whether the server creates missing parent folders.
    private func makesParents() async throws(WebDAVError) -> Bool {
        try await put("e", "one")
        let there = [name("none"), name("e")]
        var request = WebDAVRequest("PUT", there)
        request.body = .bytes([0])
        let move = connection.move([name("e")], to: there, isFolder: false, mayReplace: false)
        for request in [request, move] {
            _ = try await isDone { () async throws(WebDAVError) in
                _ = try await connection.send(request)
                return true
            }
        }
        // A request that succeeded may have been sent twice, and then refused.
        return try await isThere(name("none"))
    }

    private func takesControls() async throws(WebDAVError) -> Bool {
        let part = "\u{1}\t\n\u{7F}"
        let isTaken = try await isDone { () async throws(WebDAVError) in
            try await put(part, "one")
            return true
        }
        guard isTaken else { return false }
        return try await isDone { () async throws(WebDAVError) in try await isThere(name(part)) }
    }

    private func makesExclusively() async throws(WebDAVError) -> Bool {
        var request = WebDAVRequest("MKCOL", [name("d")])
        request.isFolder = true
        let folder = request
        // A proxy may have sent it twice.
        let isMade = try await isDone { () async throws(WebDAVError) in
            do throws(WebDAVError) { _ = try await connection.send(folder) } catch {
                guard error.status == 405 else { throw error }
            }
            return try await isThere(name("d"))
        }
        guard isMade else { throw .strange }
        return try await !isDone { () async throws(WebDAVError) in
            _ = try await connection.send(folder)
            return true
        }
    }

    /// Whether the ETags of a folder and of the store's root change with each change two folders below.
    private func foldersTellChanges() async throws(WebDAVError) -> Bool {
        guard try await made("d").tag != nil else { return false }
        let (inner, file) = ([name("d"), FileName("e")], [name("d"), FileName("e"), FileName("f")])
        var folder = WebDAVRequest("MKCOL", inner)
        folder.isFolder = true
        let request = folder
        _ = try await isDone { () async throws(WebDAVError) in
            _ = try await connection.send(request)
            return true
        }
        var seen: Set<[Resource.Tag]> = []
        for text in ["", "one", "two"] {
            if !text.isEmpty {
                var request = WebDAVRequest("PUT", file)
                request.body = .bytes(Array(text.utf8))
                _ = try await connection.send(request)
            }
            guard let root = try await connection.find([], isFolder: true)?.0.tag else { return false }
            let tags = [root, try await made("d").tag].compactMap { $0 }
            for former in seen where zip(former, tags).contains(where: { $0 == $1 }) { return false }
            guard tags.count == 2, seen.insert(tags).inserted else { return false }
        }
        return true
    }

    private func fetchesRanges() async throws(WebDAVError) -> Bool {
        let there = try await made("a")
        let request = WebDAVRequest("GET", [name("a")], headers: [("Range", "bytes=1-1")])
        let answer = try await connection.send(request)
        switch answer.head.status {
        case 206 where answer.body.count == 1: return true
        case 200 where Int64(answer.body.count) == there.size: return false
        default: throw .strange
        }
    }

    // MARK: Requests

    func name(_ part: String, isUpper: Bool = false) -> FileName {
        let text = "\(base)-\(part)"
        return FileName(isUpper ? text.uppercased() : text)
    }

    /// - Returns: The ETag of the answer.
    @discardableResult
    func put(
        _ part: String, _ text: String, _ headers: [(name: String, value: String)] = []
    ) async throws(WebDAVError) -> Resource.Tag? {
        var request = WebDAVRequest("PUT", [name(part)], headers: headers)
        request.body = .bytes(Array(text.utf8))
        return try await connection.send(request).head["etag"].flatMap(Resource.Tag.init)
    }

    func move(
        _ part: String, to target: String, _ headers: [(name: String, value: String)] = []
    ) async throws(WebDAVError) {
        var request = connection.move([name(part)], to: [name(target)], isFolder: false, mayReplace: false)
        request.headers += headers
        _ = try await connection.send(request)
    }

    /// The resource that was written.
    func made(_ part: String) async throws(WebDAVError) -> Resource {
        guard let (resource, _) = try await connection.find([name(part)], isFolder: false) else { throw .strange }
        return resource
    }

    /// Whether something with this name exists. Its absence has to be confirmed by a second answer.
    func isThere(_ name: FileName) async throws(WebDAVError) -> Bool {
        if try await connection.find([name], isFolder: false) != nil { return true }
        return try await connection.find([name], isFolder: false) != nil
    }

    /// Whether a server supports something. A failure has to be confirmed by a second, equal one, because a proxy may
    /// have caused the first.
    func isDone(_ body: () async throws(WebDAVError) -> Bool) async throws(WebDAVError) -> Bool {
        var former: Int?
        for _ in 0..<4 {
            do throws(WebDAVError) { return try await body() } catch {
                guard let status = error.status, ![401, 429, 502, 503, 504].contains(status) else { throw error }
                if status == former { return false }
                former = status
            }
        }
        throw .strange
    }

    /// Whether the server reports that a precondition failed.
    private func isRefused(_ body: () async throws(WebDAVError) -> Void) async throws(WebDAVError) -> Bool {
        var isRefused = false
        _ = try await isDone { () async throws(WebDAVError) in
            do throws(WebDAVError) { try await body() } catch {
                guard error.isPreconditionFailed else { throw error }
                isRefused = true
            }
            return true
        }
        return isRefused
    }

    /// Removes the remaining files; those that can't be removed now are removed after a day.
    private func tidy() async {
        let (connection, base) = (connection, base)
        _ = await Task {
            guard let (all, _) = try? await connection.ask([], isFolder: true, withChildren: true) else { return }
            let left = all.filter { $0.names.count == 1 && $0.names[0].bytes.starts(with: base.utf8) }
            // A file that stays is removed later.
            _ = try? await inParallel(left) { resource -> Result<Void, WebDAVError> in
                var request = WebDAVRequest("DELETE", resource.names, headers: WebDAVRequest.forGood)
                request.isFolder = resource.isFolder
                _ = try? await connection.send(request)
                return .success(())
            }
        }.value
    }
}
