import Foundation
import ReplicaControl
import Testing

@testable import mount_replica

/// How commands show progress: on standard error, never mixed with the output that scripts read.
@Suite(.serialized) struct ProgressCommandTests {
    /// A daemon's progress events for 300 items.
    private static let events: [ControlEvent] = [12, 150, 299].map { done in
        .progress(
            TransferProgress(
                itemsDone: done, itemsTotal: 300, bytesDone: Int64(done) << 20, bytesTotal: 300 << 20,
                bytesPerSecond: 4_194_304, itemsPerSecond: 4, secondsLeft: Double(300 - done) / 4))
    }

    private static let lines = [
        "12 of 300 items, 12.0 MiB of 300.0 MiB, 4 items/s, 4.0 MiB/s, 72 s left",
        "150 of 300 items, 150.0 MiB of 300.0 MiB, 4 items/s, 4.0 MiB/s, 38 s left",
        "299 of 300 items, 299.0 MiB of 300.0 MiB, 4 items/s, 4.0 MiB/s, 1 s left",
    ]

    private func domain(thenFails: Bool = false) throws -> FakeDomain {
        try FakeDomain { request, events in
            for event in Self.events where request != .status && request != .hello { try await events.send(event) }
            if thenFails, request != .hello { throw ControlFailure(.offline, "the store can't be reached") }
            return .done
        }
    }

    /// Runs a shell command on a terminal with 80 columns, or another number.
    private func onTerminal(_ command: String, columns: Int = 80, _ domain: FakeDomain) async throws -> String {
        let words = "stty cols \(columns); \(command.replacing("replica ", with: "\"$REPLICA\" "))"
        let result = try await run(
            "/usr/bin/script", "-qec", words, "/dev/null",
            environment: domain.environment.merging(["REPLICA": Programs.replica, "SHELL": "/bin/bash"]) { $1 })
        return result.output
    }

    private static let commands = [
        ["evict", "photos:a"], ["forget", "photos:a"], ["download", "photos:a", "--recursive", "--wait"],
        ["pin", "photos:a", "--wait"], ["wait", "photos"], ["wait", "photos:a"], ["unmount", "photos", "--flush"],
    ]

    @Test(arguments: commands)
    func onlyTheResultIsWrittenToAPipe(words: [String]) async throws {
        let domain = try domain()
        let result = try await run(Programs.replica, words, environment: domain.environment)
        // A machine so slow that this takes seconds is shown whole lines of progress.
        let shown = result.errors.split(separator: "\n").map(String.init)
        #expect(result.code == 0 && shown.allSatisfy(Self.lines.contains), "\(result)")
        #expect(result.output.split(separator: "\n").count == 1 && !result.output.contains("of 300"), "\(result)")
        try await domain.stop()
    }

    @Test(arguments: commands)
    func aTerminalShowsOneUpdatedLine(words: [String]) async throws {
        let domain = try domain()
        let shown = try await onTerminal("replica \(words.joined(separator: " ")) >/dev/null", domain)
        // Each overwrites the one before, and the last one is erased.
        let parts = shown.split(separator: "\r", omittingEmptySubsequences: false).map { part in
            String(part.reversed().drop { $0 == " " }.reversed())
        }
        #expect(parts == [""] + Self.lines + ["", ""], "\(shown.debugDescription)")
        #expect(!shown.contains("\n"))
        try await domain.stop()
    }

    /// Standard output does not go to the terminal.
    @Test func progressNeverWrapsAndErrorsGetTheirOwnLine() async throws {
        let domain = try domain(thenFails: true)
        let shown = try await onTerminal("replica evict photos:a", columns: 36, domain)
        let lines = shown.split(separator: "\r\n", omittingEmptySubsequences: false)
        #expect(lines.dropFirst() == ["replica: the store can't be reached", ""], "\(shown.debugDescription)")
        let parts = lines[0].split(separator: "\r").map { String($0) }
        #expect(parts == ["12 of 300 items", "150 of 300 items", "299 of 300 items"], "\(shown.debugDescription)")
        #expect(parts.allSatisfy { $0.count < 36 })
        try await domain.stop()
    }

    @Test func theResultGetsItsOwnLine() async throws {
        let domain = try domain()
        let shown = try await onTerminal("replica evict photos:a", domain)
        #expect(shown.hasSuffix(" \rphotos:a is evicted\r\n"), "\(shown.debugDescription)")
        let json = try await run(
            Programs.replica, "evict", "photos:a", "--json", environment: domain.environment)
        // In JSON each event is an object on standard output, as on the socket.
        let lines = json.output.split(separator: "\n")
        #expect(json.errors == "" && lines.count == 4 && lines.last == "{}", "\(json)")
        #expect(lines.dropLast().allSatisfy { $0.hasPrefix(#"{"progress":{"bytesDone":"#) })
        try await domain.stop()
    }

    @Test func anErrorWithoutATerminalIsOneLine() async throws {
        let domain = try domain(thenFails: true)
        let result = try await Programs.replica("wait", "photos", in: domain.folder)
        #expect(result.isOneClearLine(code: ExitReason.offline.rawValue, containing: "can't be reached"), "\(result)")
        try await domain.stop()
    }
}
