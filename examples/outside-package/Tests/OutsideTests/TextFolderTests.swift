import Foundation
import FuseMount
import Testing
import TextFolder

/// Mounts the filesystem and reads it with other programs.
@Suite(.serialized) struct TextFolderTests {
    @Test func programsReadTheTexts() throws {
        let mountpoint = "/var/tmp/replica-test-\(getpid())-texts"
        try FileManager.default.createDirectory(atPath: mountpoint, withIntermediateDirectories: true)
        defer { _ = rmdir(mountpoint) }
        let long = (0..<60_000).map { "\($0)\n" }.joined()
        let folder = TextFolder(["hello": "Hello, world!\n", "empty": "", "long": long])
        let session = try Session(folder, options: MountOptions(fsName: "texts", subtype: "texts"))
        try session.mount(at: mountpoint)
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            #expect(throws: Never.self) { try session.run() }
            ended.signal()
        }
        #expect(try output("ls", mountpoint) == "empty\nhello\nlong\n")
        #expect(try output("cat", mountpoint + "/hello") == "Hello, world!\n")
        #expect(try output("cat", mountpoint + "/empty") == "")
        #expect(try output("cat", mountpoint + "/long") == long)
        #expect(try output("stat", "-c", "%s %A", mountpoint + "/hello") == "14 -r--r--r--\n")
        #expect(
            try output("sh", "-c", "cat \(mountpoint)/absent 2>&1 || true").hasSuffix("No such file or directory\n"))
        #expect(try output("sh", "-c", "echo x 2>&1 >\(mountpoint)/new || true").contains("new"))
        try session.unmount()
        #expect(ended.wait(timeout: .now() + 30) == .success)
    }

    private func output(_ words: String...) throws -> String {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = words
        process.standardOutput = pipe
        try process.run()
        let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }
}
