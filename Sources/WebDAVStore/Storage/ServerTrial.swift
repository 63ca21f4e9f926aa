import Foundation
import Glibc
import HTTPClient
import HTTPStorage
import PathStore
import ReplicaModel

/// Tries what a server does, on files of the store's own in its folder, which are removed then.
struct ServerTrial: Sendable {
    /// What came of it.
    struct Outcome: Sendable {
        var abilities = ServerAbilities()
        /// Whether all was tried: else what was not counts as what it can't do, and is tried again.
        var isWhole = true
    }

    private let connection: WebDAVConnection
    private let base = "\(WebDAVStorage.temporaryPrefix)trial-\(getpid())-\(UInt64.random(in: 0 ... .max))"
    private let begin = ContinuousClock.now
    private let patience: Duration
    private static let other = "\"replica-no-such-tag\""

    private init(_ connection: WebDAVConnection, _ patience: Duration) {
        (self.connection, self.patience) = (connection, patience)
    }

    /// Tries it. Where nothing may be written, the least is supposed.
    static func run(_ connection: WebDAVConnection, patience: Duration) async throws(WebDAVError) -> Outcome {
        let trial = ServerTrial(connection, patience)
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
        guard let first = try await look("a") else { throw .strange }
        abilities.hasTags = first.tag != nil
        abilities.createsConditionally = try await isRefused { () async throws(WebDAVError) in
            try await put("a", "one", [any])
        }
        abilities.replacesConditionally = try await isRefused { () async throws(WebDAVError) in
            try await put("a", "one", [("If-Match", Self.other)])
        }
        abilities.isExact = try await isExact()
        abilities.keepsProperties = try await keepsProperties()
        abilities.writesWhole = try await writesWhole()
        abilities.fetchesRanges = try await fetchesRanges()
        abilities.isCaseSensitive = try await connection.find([name("a", isUpper: true)], isFolder: false) == nil
        try await put("b", "two")
        abilities.keepsTargets = try await isRefused { () async throws(WebDAVError) in try await move("a", to: "b") }
        abilities.makesParents = try await makesParents()
        abilities.takesControls = try await takesControls()
        abilities.makesExclusively = try await makesExclusively()
        try await put("a", "one")
        abilities.movesConditionally = try await isRefused { () async throws(WebDAVError) in
            try await move("a", to: "c", [("If-Match", Self.other)])
        }
        try await put("a", "one")
        abilities.removesConditionally = try await isRefused { () async throws(WebDAVError) in
            var request = WebDAVRequest("DELETE", [name("a")])
            request.headers = [("If-Match", Self.other)]
            _ = try await connection.send(request)
        }
        var outcome = Outcome(abilities: abilities)
        try await race(&outcome)
        return outcome
    }

    /// A content of one size after another, until two were written in one second of the server's.
    private func isExact() async throws(WebDAVError) -> Bool {
        var before: Resource?
        for number in 0..<5 {
            try await put("a", "v\(number)")
            guard let now = try await look("a"), now.tag != nil else { return false }
            if let before {
                if now.version == before.version { return false }
                if now.modified == before.modified { return true }
            }
            before = now
        }
        return false
    }

    private func keepsProperties() async throws(WebDAVError) -> Bool {
        guard let before = try await look("a") else { return false }
        var note = Resource.Note()
        (note.mode, note.dateOf) = (0o751, before.version)
        note.date = Timestamp(seconds: 1_000_000_000, nanoseconds: 123_456_789)
        do throws(WebDAVError) {
            guard try await connection.patch([name("a")], isFolder: false, note.properties) else { return false }
        } catch {
            guard error.status != nil else { throw error }
            return false
        }
        guard let now = try await look("a") else { return false }
        return now.note == note && now.version == before.version
    }

    /// Whether a file is as it was when the connection ends in the middle of what was to replace it.
    private func writesWhole() async throws(WebDAVError) -> Bool {
        let before = try await look("a")
        // Any file will do that ends before its contents are said to.
        let file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        let end = Int64(lseek(file, 0, SEEK_END))
        guard end >= 16 << 10 else { return false }
        var request = WebDAVRequest("PUT", [name("a")])
        request.body = .file(file, end - (16 << 10)..<end + (64 << 10))
        do throws(WebDAVError) { _ = try await connection.send(request) } catch {
            switch error {
            case .contentsEndEarly, .complaint, .failure: break
            case .unwanted, .strange: throw error
            }
        }
        guard let before, let now = try await look("a") else { return false }
        return now.size == before.size && now.version == before.version
    }

    /// Whether a server makes a folder that is not there for what is to be in it.
    private func makesParents() async throws(WebDAVError) -> Bool {
        try await put("e", "one")
        let there = [name("none"), name("e")]
        var request = WebDAVRequest("PUT", there)
        request.body = .bytes([0])
        let move = connection.move([name("e")], to: there, isFolder: false, mayReplace: false)
        for request in [request, move] {
            do throws(WebDAVError) { _ = try await connection.send(request) } catch {
                guard error.status != nil else { throw error }
                continue
            }
            return true
        }
        return false
    }

    private func takesControls() async throws(WebDAVError) -> Bool {
        do throws(WebDAVError) {
            try await put("\u{1}\t\n\u{7F}", "one")
            return try await look("\u{1}\t\n\u{7F}") != nil
        } catch {
            if case .failure = error { throw error }
            return false
        }
    }

    private func makesExclusively() async throws(WebDAVError) -> Bool {
        var request = WebDAVRequest("MKCOL", [name("d")])
        request.isFolder = true
        _ = try await connection.send(request)
        do throws(WebDAVError) { _ = try await connection.send(request) } catch {
            guard error.status != nil else { throw error }
            return true
        }
        return false
    }

    private func fetchesRanges() async throws(WebDAVError) -> Bool {
        let request = WebDAVRequest("GET", [name("a")], headers: [("Range", "bytes=1-1")])
        let answer = try await connection.send(request)
        return answer.head.status == 206 && answer.body.count == 1
    }

    // MARK: Races

    /// Many at once: the server has them go one by one, or it does not.
    private func race(_ outcome: inout Outcome) async throws(WebDAVError) {
        var abilities = outcome.abilities
        guard isTimeLeft else {
            outcome.isWhole = false
            return
        }
        if abilities.createsConditionally {
            abilities.createsInOneStep = try await wins(3) { (round, number) async throws(WebDAVError) in
                try await put("create-\(round)", "\(number)", [("If-None-Match", "*")])
            }
        }
        if abilities.replacesConditionally {
            abilities.replacesInOneStep = true
            for round in 0..<3 where abilities.replacesInOneStep {
                try await put("replace", "one")
                // One that may be no condition can't be tried.
                guard isTimeLeft, let tag = try await look("replace")?.tag, !tag.isWeak else {
                    abilities.replacesInOneStep = false
                    break
                }
                abilities.replacesInOneStep =
                    try await together { (number) async throws(WebDAVError) in
                        try await put("replace", "\(round) \(number)", [("If-Match", tag.header)])
                    } == 1
            }
        }
        if abilities.keepsTargets {
            abilities.movesInOneStep = true
            for round in 0..<2 where abilities.movesInOneStep {
                _ = try await together { (number) async throws(WebDAVError) in
                    try await put("from-\(number)", "\(number)")
                }
                abilities.movesInOneStep =
                    try await together { (number) async throws(WebDAVError) in
                        try await move("from-\(number)", to: "to-\(round)")
                    } == 1
            }
        }
        outcome.abilities = abilities
        outcome.isWhole = isTimeLeft
    }

    private var isTimeLeft: Bool { begin.duration(to: .now) < patience }

    /// Whether one of many won, in each round.
    private func wins(
        _ rounds: Int, _ body: @escaping @Sendable (Int, Int) async throws(WebDAVError) -> Void
    ) async throws(WebDAVError) -> Bool {
        for round in 0..<rounds {
            guard isTimeLeft else { return false }
            let won = try await together { (number) async throws(WebDAVError) in try await body(round, number) }
            if won != 1 { return false }
        }
        return true
    }

    /// - Returns: How many of them were done.
    private func together(
        _ body: @escaping @Sendable (Int) async throws(WebDAVError) -> Void
    ) async throws(WebDAVError) -> Int {
        let results: [Bool] = try await inParallel(Array(0..<8), most: 8) { number -> Result<Bool, WebDAVError> in
            do throws(WebDAVError) {
                try await body(number)
                return .success(true)
            } catch {
                // Who is told to wait, or that another was there, has lost.
                return error.status != nil && error.status != 401 ? .success(false) : .failure(error)
            }
        }
        return results.count { $0 }
    }

    // MARK: Requests

    private func name(_ part: String, isUpper: Bool = false) -> FileName {
        let text = "\(base)-\(part)"
        return FileName(isUpper ? text.uppercased() : text)
    }

    private func put(
        _ part: String, _ text: String, _ headers: [(name: String, value: String)] = []
    ) async throws(WebDAVError) {
        var request = WebDAVRequest("PUT", [name(part)], headers: headers)
        request.body = .bytes(Array(text.utf8))
        _ = try await connection.send(request)
    }

    private func move(
        _ part: String, to target: String, _ headers: [(name: String, value: String)] = []
    ) async throws(WebDAVError) {
        var request = connection.move([name(part)], to: [name(target)], isFolder: false, mayReplace: false)
        request.headers += headers
        _ = try await connection.send(request)
    }

    private func look(_ part: String) async throws(WebDAVError) -> Resource? {
        try await connection.find([name(part)], isFolder: false)?.0
    }

    /// Whether a server says that a condition does not hold.
    private func isRefused(_ body: () async throws(WebDAVError) -> Void) async throws(WebDAVError) -> Bool {
        do throws(WebDAVError) { try await body() } catch {
            if error.isPreconditionFailed { return true }
            guard let status = error.status, [400, 403, 405, 409, 423, 500, 501].contains(status) else { throw error }
        }
        return false
    }

    /// Removes what is left; what can't be removed now goes after a day.
    private func tidy() async {
        let (connection, base) = (connection, base)
        _ = await Task {
            guard let (all, _) = try? await connection.ask([], isFolder: true, withChildren: true) else { return }
            let left = all.filter { $0.names.count == 1 && $0.names[0].bytes.starts(with: base.utf8) }
            // Each that stays is as good as gone.
            _ = try? await inParallel(left) { resource -> Result<Void, WebDAVError> in
                var request = WebDAVRequest("DELETE", resource.names)
                request.isFolder = resource.isFolder
                _ = try? await connection.send(request)
                return .success(())
            }
        }.value
    }
}
