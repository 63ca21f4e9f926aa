import Foundation
import Glibc
import PathStore
import ReplicaModel
import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import SFTPStore

/// Folders that their owner may not write to (mode 0555), on OpenSSH's server, run by an ordinary user.
@Suite struct ClosedFolderTests {
    /// A read-only tree is written from the top down, as it was made here, and changed.
    @Test func aReadOnlyTreeIsUploadedAndChanged() async throws {
        try await ClosedScratch.run { scratch in
            try await scratch.make("closed")
            try await scratch.make("closed/sub")
            let first = try await scratch.write("closed/sub/file", "one", PathAttributes(mode: 0o444))
            #expect(try scratch.modes("closed", "closed/sub") == [0o555, 0o555])
            let version = try #require(first.version)
            let second = try await scratch.write("closed/sub/file", "other", guard: .version(version))
            let set = try await scratch.storage.set(PathAttributes(mode: 0o400), of: scratch.path("closed/sub/file"))
            #expect(set.attributes.mode == 0o400 && set.version == second.version)
            _ = try await scratch.storage.make(
                scratch.path("closed/link"), kind: .symlink(Array("sub".utf8)), attributes: PathAttributes())
            #expect(try scratch.modes("closed", "closed/sub") == [0o555, 0o555])
            // Another parent: the folder itself has to be writable for its `..`.
            try await scratch.make("other")
            let moved = try await scratch.storage.move(
                scratch.path("closed/sub"), to: scratch.path("other/sub"), version: nil)
            #expect(moved.attributes.mode == 0o555)
            #expect(try scratch.modes("closed", "other", "other/sub") == [0o555, 0o555, 0o555])
            #expect(try String(contentsOfFile: scratch.root + "/other/sub/file", encoding: .utf8) == "other")
            try await scratch.storage.remove(scratch.path("other/sub/file"), version: second.version)
            try await scratch.storage.remove(scratch.path("other/sub"), version: nil)
            #expect(try scratch.modes("other") == [0o555])
            #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.root + "/other").isEmpty)
            #expect(scratch.storage.modeNotes?.all.isEmpty == true)
        }
    }

    /// The mode is shown as it is without us, while many files are written, and when it is changed meanwhile.
    @Test func aTemporaryModeIsNotShown() async throws {
        try await ClosedScratch.run { scratch in
            try await scratch.make("closed")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<20 {
                    group.addTask { try await scratch.write("closed/\(number)", "content") }
                    group.addTask {
                        let listed = try await scratch.storage.list(.root, isDeep: false, from: nil).entries
                        #expect(listed.map(\.attributes.mode) == [0o555])
                        let found = try await scratch.storage.entry(at: scratch.path("closed"))
                        #expect(found?.attributes.mode == 0o555)
                    }
                }
                try await group.waitForAll()
            }
            #expect(try scratch.modes("closed") == [0o555])
            let isSet = Locked(false)
            try await scratch.write("closed/slow") { count in
                // While it is sent the folder is writable: from here on by a chmod.
                let isFirst = isSet.withLock { isSet in
                    defer { isSet = isSet || count > 0 }
                    return !isSet && count > 0
                }
                guard isFirst else { return }
                let done = DispatchSemaphore(value: 0)
                Task.detached {
                    let set = try await scratch.storage.set(PathAttributes(mode: 0o500), of: scratch.path("closed"))
                    #expect(set.attributes.mode == 0o500)
                    done.signal()
                }
                done.wait()
            }
            #expect(try isSet.withLock { $0 } && scratch.modes("closed") == [0o500])
            let listed = try await scratch.storage.list(scratch.path("closed"), isDeep: false, from: nil).entries
            #expect(listed.count == 21)
        }
    }

    /// The connection ends while a folder is writable; the next one, also of another process, restores its mode.
    @Test(arguments: [false, true]) func aFoldersModeIsRestoredAfterACut(isOtherProcess: Bool) async throws {
        try await ClosedScratch.run { scratch in
            try await scratch.make("closed")
            let seen = Locked<[Int]>([])
            let error = try await failure {
                try await scratch.write("closed/large") { count in
                    guard count > 0, seen.withLock({ $0.isEmpty }) else { return }
                    // What the server's disk shows meanwhile.
                    seen.withLock { $0 = (try? scratch.modes("closed")) ?? [-1] }
                    kill(scratch.storage.reconnector.process, SIGKILL)
                }
            }
            guard case .unreachable = error else { throw BrokenPromise("\(error)") }
            let left = try scratch.modes("closed")
            #expect(seen.withLock { $0 } == [0o755] && left == [0o755])
            if isOtherProcess {
                await scratch.storage.close()
                let next = try await scratch.reopened()
                #expect(try scratch.modes("closed") == [0o555])
                await next.close()
            } else {
                func mayPass(_ error: PathStorageError) -> Bool { if case .unreachable = error { true } else { false } }
                let found = try await eventually(despite: mayPass) { () async throws(PathStorageError) in
                    try await scratch.storage.entry(at: scratch.path("closed"))
                }
                #expect(try found?.attributes.mode == 0o555 && scratch.modes("closed") == [0o555])
                try await scratch.write("closed/large", "again")
            }
            #expect(try scratch.modes("closed") == [0o555])
        }
    }

    /// A folder of another user stays as it is.
    @Test func aFolderOfAnotherUserIsNotOpened() async throws {
        try #require(geteuid() == 0)
        try await ClosedScratch.run { scratch in
            try FileManager.default.createDirectory(
                atPath: scratch.root + "/foreign", withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o555])
            let error = try await failure { try await scratch.write("foreign/file", "content") }
            guard case .refused = error else { throw BrokenPromise("\(error)") }
            #expect(try scratch.modes("foreign") == [0o555] && scratch.storage.modeNotes?.all.isEmpty == true)
        }
    }
}

/// A store that OpenSSH's sftp-server serves as an ordinary user, without ssh.
private struct ClosedScratch: StorageScratch {
    let folder: String
    let storage: SFTPStorage
    var root: String { folder + "/root" }

    static func run(_ body: (ClosedScratch) async throws -> Void) async throws {
        let folder = "/var/tmp/replica-test-\(getpid())-closed-\(UInt64.random(in: 0 ... .max))"
        for name in ["root", "state"] {
            try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
        }
        let (user, server): (uid_t, String) = (65_534, "/usr/lib/openssh/sftp-server")
        if geteuid() == 0 { try #require(chown(folder + "/root", user, user) == 0) }
        let become = geteuid() == 0 ? "setpriv --reuid=\(user) --regid=\(user) --clear-groups " : ""
        try "#!/bin/sh\nexec \(become)\(server)\n".write(toFile: folder + "/ssh", atomically: true, encoding: .utf8)
        try #require(chmod(folder + "/ssh", 0o755) == 0)
        let scratch = ClosedScratch(folder: folder, storage: try await open(folder))
        let outcome: Result<Void, any Error>
        do { outcome = .success(try await body(scratch)) } catch { outcome = .failure(error) }
        await scratch.storage.close()
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder) { chmod("\(folder)/\(name)", 0o700) }
        try FileManager.default.removeItem(atPath: folder)
        try outcome.get()
    }

    private static func open(_ folder: String) async throws -> SFTPStorage {
        var command = SSHCommand()
        command.program = folder + "/ssh"
        return try await SFTPStorage.open(
            SFTPAddress("closed\(folder)/root"), command: command, notes: UploadNotes(folder: folder + "/state"))
    }

    /// The store of another process.
    func reopened() async throws -> SFTPStorage { try await Self.open(folder) }

    /// Makes a folder with mode 0555.
    func make(_ path: String) async throws {
        let entry = try await storage.make(self.path(path), kind: .folder, attributes: PathAttributes(mode: 0o555))
        #expect(entry.attributes.mode == 0o555)
    }

    /// Writes a new file of some packets.
    func write(_ path: String, progress: @escaping @Sendable (Int64) -> Void) async throws {
        let content = [UInt8](repeating: 7, count: 3_000_000)
        let outcome = try await ItemContents.with(content) { contents async throws(RemoteStoreError) in
            let told = ItemContents(file: contents.file, size: contents.size, progress: progress)
            do throws(PathStorageError) {
                return Result<PathEntry, PathStorageError>.success(
                    try await storage.write(
                        self.path(path), contents: told, attributes: PathAttributes(), guard: .absent))
            } catch {
                return .failure(error)
            }
        }
        _ = try outcome.get()
    }

    /// The modes on the server's disk.
    func modes(_ paths: String...) throws -> [Int] {
        try paths.map { path in
            var found = stat()
            guard lstat("\(root)/\(path)", &found) == 0 else { throw POSIXError(.ENOENT) }
            return Int(found.st_mode & 0o7777)
        }
    }
}
