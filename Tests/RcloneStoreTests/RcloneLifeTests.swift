import Foundation
import Glibc
import HTTPStorage
import PathStore
import ReplicaTestSupport
import Testing

@testable import RcloneStore

/// rclone is a child of the store's process: it ends with it, and is restarted if it dies alone.
@Suite struct RcloneLifeTests {
    private func run(_ body: (RcloneScratch, RcloneRunner) async throws -> Void) async throws {
        let other = try await RcloneRemote.disk.folder()
        let server = try RcloneRunner(RcloneRemote.program, state: other.state)
        let storage = try await RcloneStorage.open(
            try RcloneAddress("rclone:\(other.root)"), server, state: other.state)
        let outcome: Result<Void, any Error>
        do { outcome = .success(try await body(RcloneScratch(storage: storage, other: other), server)) } catch {
            outcome = .failure(error)
        }
        await storage.close()
        try outcome.get()
    }

    private func isThere(_ process: Int32) -> Bool { kill(process, 0) == 0 }

    @Test func rcloneIsRestartedAfterACrash() async throws {
        try await run { scratch, server in
            try await scratch.write("file", "text")
            // Immediately the first time, then after a pause.
            let first = server.process
            kill(first, SIGKILL)
            #expect(try await scratch.read("file") == Array("text".utf8))
            let second = server.process
            #expect(second != first && second > 0)
            kill(second, SIGKILL)
            let isBack = try await eventually {
                do { return try await scratch.read("file") == Array("text".utf8) } catch { return false }
            }
            #expect(isBack && server.process != second && server.process > 0)
        }
    }

    /// How fast rclone may send.
    private struct Rate: Codable {
        let rate: String
    }

    /// An interrupted transfer leaves nothing, and succeeds when it is repeated.
    @Test func aCrashDuringAnUploadLeavesNoPartialFile() async throws {
        try await run { scratch, server in
            let content = [UInt8](repeating: 7, count: 64 << 20)
            let _: Rate = try await scratch.storage.connection.callOnce("core/bwlimit", Rate(rate: "1M"))
            let process = server.process
            let death = Task {
                while try await scratch.list().count == 0 {
                    let names = try FileManager.default.contentsOfDirectory(
                        atPath: RcloneRemote.base + "/disk/" + scratch.other.root.dropFirst("disk:".count))
                    if names.contains(where: { $0.hasPrefix(".replica-tmp-") }) { break }
                    try await Task.sleep(for: .milliseconds(1))
                }
                kill(process, SIGKILL)
            }
            do {
                try await scratch.write("file", content)
                Issue.record("it was too fast")
            } catch let error as PathStorageError {
                guard case .unreachable(let text) = error else { throw error }
                #expect(text.contains("rclone has died"))
            }
            try await death.value
            #expect(try await scratch.entry("file") == nil)
            try await scratch.write("file", content)
            #expect(try await scratch.other.content(at: "file")?.count == content.count)
        }
    }

    @Test func rcloneExitsWithTheStore() async throws {
        var process: Int32 = 0
        try await run { scratch, server in
            process = server.process
            #expect(isThere(process))
            let command = try String(contentsOfFile: "/proc/\(process)/cmdline", encoding: .utf8)
            #expect(command.contains("rcd") && !command.contains("jbRK8mp"))
        }
        #expect(!isThere(process))
    }

    private struct Cache: Codable {
        var entries: Int?
    }

    /// It would keep cached IDs of folders, which some remotes keep for moved folders.
    @Test func movedFoldersAreDroppedFromItsCache() async throws {
        try await run { scratch, server in
            try await scratch.folder("folder")
            try await scratch.write("folder/file", "text")
            _ = try await scratch.storage.move(scratch.path("folder"), to: scratch.path("moved"), version: nil)
            let cache: Cache = try await scratch.storage.connection.callOnce("fscache/entries", Cache())
            // The root, and the disk behind its alias.
            #expect(cache.entries ?? 9 <= 2)
        }
    }

    /// The socket is in a folder that other users can't enter.
    @Test func onlyItsOwnerReachesRclone() async throws {
        try await run { scratch, server in
            var status = stat()
            #expect(stat(server.folder.path, &status) == 0 && status.st_mode & 0o7777 == 0o700)
        }
    }
}
