import HTTPStorage
import PathStore

extension ServerTrial {
    /// Sends several at once, to find out whether the server serializes them.
    func race(_ outcome: inout Outcome) async throws(WebDAVError) {
        var abilities = outcome.abilities
        guard isTimeLeft else {
            outcome.isWhole = false
            return
        }
        if abilities.createsConditionally {
            abilities.createsInOneStep = try await isWonOnce(3) { (round) async throws(WebDAVError) in
                try await together { (number) async throws(WebDAVError) in
                    try await put("create-\(round)", "\(number)", [("If-None-Match", "*")])
                }
            }
        }
        if abilities.replacesConditionally {
            abilities.replacesInOneStep = try await isWonOnce(3) { (round) async throws(WebDAVError) in
                // Written right before: a server whose ETags have whole seconds lets several win.
                try await put("replace", "one")
                // A condition that may be ignored can't be tested.
                guard let tag = try await made("replace").tag, !tag.isWeak else { return nil }
                return try await together { (number) async throws(WebDAVError) in
                    try await put("replace", "\(round) \(number)", [("If-Match", tag.header)])
                }
            }
        }
        if abilities.keepsTargets {
            abilities.movesInOneStep = try await isWonOnce(2) { (round) async throws(WebDAVError) in
                _ = try await together { (number) async throws(WebDAVError) in
                    try await put("from-\(number)", "\(number)")
                }
                return try await together { (number) async throws(WebDAVError) in
                    try await move("from-\(number)", to: "to-\(round)")
                }
            }
        }
        outcome.abilities = abilities
        outcome.isWhole = isTimeLeft
    }

    private var isTimeLeft: Bool { begin.duration(to: .now) < timeLimit }

    /// Whether one of many won, in each round.
    /// - Parameter play: Returns how many won in a round of this name; nil if that can't be tested.
    private func isWonOnce(
        _ rounds: Int, _ play: (String) async throws(WebDAVError) -> Int?
    ) async throws(WebDAVError) -> Bool {
        for round in 0..<rounds {
            guard isTimeLeft, var won = try await play("\(round)") else { return false }
            // The winner's answer may have been lost.
            if won == 0 { won = try await play("\(round)-again") ?? 0 }
            if won != 1 { return false }
        }
        return true
    }

    /// - Returns: How many of them succeeded.
    private func together(
        _ body: @escaping @Sendable (Int) async throws(WebDAVError) -> Void
    ) async throws(WebDAVError) -> Int {
        let results: [Bool] = try await inParallel(Array(0..<Self.rivals), most: Self.rivals) {
            number -> Result<Bool, WebDAVError> in
            do throws(WebDAVError) {
                try await body(number)
                return .success(true)
            } catch {
                // A client that is told to wait, or that the file exists, has lost.
                return error.status != nil && error.status != 401 ? .success(false) : .failure(error)
            }
        }
        return results.count { $0 }
    }
}
