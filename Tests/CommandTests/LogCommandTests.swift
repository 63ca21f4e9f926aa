import Foundation
import ReplicaControl
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import replica

/// The output of `replica log`, also while the log grows.
@Suite struct LogCommandTests {
    @Test func theLogIsPrintedWithoutControlCharacters() async throws {
        let domain = try FakeDomain()
        let none = try await Programs.replica("log", in: domain.folder)
        #expect(none.isOneClearLine(code: ExitReason.noSuchItem.rawValue, containing: "has no daemon.log"), "\(none)")
        try domain.folder.write("one\na\u{1B}[2Jb\nthe end", to: "replica/photos/daemon.log")
        let text = try await Programs.replica("log", "photos", in: domain.folder)
        #expect(text.output == "one\na?[2Jb\nthe end\n" && text.code == 0, "\(text)")
        let json = try await Programs.replica("log", "photos", "--json", in: domain.folder)
        #expect(json.output.hasPrefix(#"{"line":"one"}"# + "\n") && json.code == 0, "\(json)")
    }

    /// `-f` ends with a signal.
    @Test func processesStartedByTestsReceiveSignals() async throws {
        #expect(try await run("/bin/sh", "-c", "kill $$; exit 3").code == -SIGTERM)
    }

    @Test func appendedTruncatedAndReplacedLogsAreReadOnce() throws {
        let folder = try TemporaryFolder()
        let path = folder.path.appending("daemon.log")
        var (log, lines) = (LogFile(path), [String]())
        func look() throws -> Bool { try log.lines { lines.append(String(decoding: $0, as: UTF8.self)) } }
        #expect(try !look())
        try folder.write("one\ntw", to: "daemon.log")
        #expect(try look() && lines == ["one"])
        let file = try FileHandle(forWritingTo: URL(filePath: path.string))
        try file.seekToEnd()
        try file.write(contentsOf: Data("o\nthree\n".utf8))
        #expect(try look() && lines == ["one", "two", "three"])
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: Data("x\n".utf8))
        try file.truncate(atOffset: 0)
        try folder.write("cut\n", to: "daemon.log")
        #expect(try look() && lines.last == "cut")
        // The last lines of a log that was moved away are still read.
        let other = try FileHandle(forWritingTo: URL(filePath: path.string))
        try other.seekToEnd()
        try other.write(contentsOf: Data("last\n".utf8))
        try FileManager.default.moveItem(atPath: path.string, toPath: path.string + ".1")
        try folder.write("first\n", to: "daemon.log")
        #expect(try look() && Array(lines.suffix(2)) == ["last", "first"], "\(lines)")
    }

    /// Also if it was moved there after the present one was opened, which would come twice.
    @Test func theLogBeforeComesFirst() throws {
        let folder = try TemporaryFolder()
        let (path, previous) = (folder.path.appending("daemon.log"), folder.path.appending("daemon.log.1"))
        var lines: [String] = []
        func add(_ line: [UInt8]) { lines.append(String(decoding: line, as: UTF8.self)) }
        try folder.write("new\n", to: "daemon.log")
        var log = LogFile(path)
        #expect(try !log.previousLines(at: previous, add) && lines.isEmpty)
        try folder.write("old\nend", to: "daemon.log.1")
        log = LogFile(path)
        #expect(try log.previousLines(at: previous, add) && log.lines(add) && lines == ["old", "end", "new"])
        try FileManager.default.removeItem(atPath: previous.string)
        try FileManager.default.moveItem(atPath: path.string, toPath: previous.string)
        #expect(try !log.previousLines(at: previous, add) && lines.count == 3, "\(lines)")
    }
}
