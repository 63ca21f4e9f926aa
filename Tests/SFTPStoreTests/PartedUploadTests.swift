import Foundation
import Glibc
import PathStore
import ReplicaModel
import ReplicaTestSupport
import Testing
import Threads

@testable import SFTPStore

/// Bytes that the server has already are not sent again: those of an upload that was interrupted, and those of the file that is
/// replaced.
@Suite struct PartedUploadTests {
    private static let part = 65_536
    /// Twenty parts, each different, and a rest.
    private static let content: [UInt8] = {
        var random = SeededBytes(seed: 11)
        return (0..<20 * part + 100).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }()
    /// Long ago, so that no other write can have this time.
    private static let past = PathAttributes(
        mode: 0o640, modificationDate: Timestamp(seconds: 1_700_000_000, nanoseconds: 0))

    /// A store that notes the parts, like a process of a domain, and its successor.
    private static func open(_ server: SSHServer) async throws -> SFTPScratch {
        let notes = UploadNotes(folder: server.folder, parted: 100_000, part: Int64(part))
        func mayPass(_ failure: SFTPFailure) -> Bool { if case .unreachable = failure { true } else { false } }
        let storage = try await eventually(despite: mayPass) { () async throws(SFTPFailure) in
            try await SFTPStorage.open(try! server.address, command: server.command, notes: notes)
        }
        return SFTPScratch(server: server, storage: storage)
    }

    private static func write(
        _ scratch: SFTPScratch, _ content: [UInt8], at path: String = "large", guard condition: WriteGuard = .absent,
        _ attributes: PathAttributes = past, progress: @escaping @Sendable (Int64) -> Void = { _ in }
    ) async throws -> PathEntry {
        let outcome = try await ItemContents.with(content) { contents async throws(RemoteStoreError) in
            let told = ItemContents(file: contents.file, size: contents.size, progress: progress)
            do throws(PathStorageError) {
                return Result<PathEntry, PathStorageError>.success(
                    try await scratch.storage.write(
                        scratch.path(path), contents: told, attributes: attributes, guard: condition))
            } catch {
                return .failure(error)
            }
        }
        return try outcome.get()
    }

    /// An upload whose connection ends in the middle.
    /// - Returns: The path of its temporary file.
    private static func interrupted(_ scratch: SFTPScratch) async throws -> String {
        let isCut = Locked(false)
        let error = try await failure {
            _ = try await write(scratch, content) { count in
                let isNow = isCut.withLock { isCut in
                    defer { isCut = isCut || count > 10 * part }
                    return !isCut && count > 10 * part
                }
                if isNow { scratch.server.cut() }
            }
        }
        guard case .unreachable = error else { throw BrokenPromise("\(error)") }
        let left = try scratch.leftovers()
        #expect(left.count == 1 && scratch.storage.reconnector.hasLeftovers == false)
        return try #require(left.first)
    }

    /// The bytes that ssh has read since it was started, above all those to be sent.
    private static func sent(_ scratch: SFTPScratch) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(scratch.storage.reconnector.process)/io", encoding: .utf8)
        return Int(text.firstMatch(of: #/rchar: (\d+)/#)?.1 ?? "") ?? 0
    }

    private static func there(_ scratch: SFTPScratch, _ path: String = "large") throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: scratch.there(path))))
    }

    @Test(arguments: [false, true]) func anUploadResumesAfterALostConnection(isOtherProcess: Bool) async throws {
        try await SSHServer.run { server in
            var scratch = try await Self.open(server)
            let name = try await Self.interrupted(scratch)
            let left = try scratch.shell(name)
            // It was begun long ago.
            var times = [timespec(tv_sec: 1_000_000, tv_nsec: 0), left.st_mtim]
            #expect(utimensat(AT_FDCWD, scratch.there(name), &times, 0) == 0)
            if isOtherProcess {
                await scratch.storage.close()
                scratch = try await Self.open(server)
            }
            let (least, before) = (Locked(Int64.max), try await Self.connected(scratch))
            let entry = try await Self.write(scratch, Self.content) { count in
                least.withLock { $0 = min($0, count) }
            }
            #expect(try Self.sent(scratch) - before < 13 * Self.part)
            let found = try scratch.shell("large")
            #expect(found.st_ino == left.st_ino && found.st_nlink == 1 && found.st_mode & 0o7777 == 0o640)
            #expect(entry.size == Int64(Self.content.count) && found.st_mtim.tv_sec == 1_700_000_000)
            // A listing did not take it for abandoned before it was published.
            #expect(found.st_atim.tv_sec >= left.st_mtim.tv_sec)
            #expect(try Self.there(scratch) == Self.content)
            #expect(try await eventually { try scratch.leftovers().isEmpty })
            await scratch.storage.close()
        }
    }

    /// - Returns: What ssh has read for the connection.
    private static func connected(_ scratch: SFTPScratch) async throws -> Int {
        func mayPass(_ error: PathStorageError) -> Bool { if case .unreachable = error { true } else { false } }
        _ = try await eventually(despite: mayPass) { () async throws(PathStorageError) in
            try await scratch.storage.entry(at: .root)
        }
        return try sent(scratch)
    }

    /// The file was changed since, at its beginning, or its size; or only where nothing was sent.
    @Test(arguments: [5, 20 * 65_536 + 99, -1]) func anUploadOfAChangedFileRestarts(at index: Int) async throws {
        try await SSHServer.run { server in
            let scratch = try await Self.open(server)
            _ = try await Self.interrupted(scratch)
            var content = Self.content
            if index < 0 { content.append(1) } else { content[index] ^= 1 }
            let before = try await Self.connected(scratch)
            _ = try await Self.write(scratch, content)
            #expect(try (Self.sent(scratch) - before > 20 * Self.part) == (index <= 5))
            #expect(try Self.there(scratch) == content)
            #expect(try await eventually { try scratch.leftovers().isEmpty })
            await scratch.storage.close()
        }
    }

    /// The temporary file is not what was written any more, or its name may be another file's.
    @Test(arguments: ["gone", "short", "link", "swapped", "shared", "foreign"])
    func aModifiedTemporaryFileRestartsTheUpload(_ how: String) async throws {
        try await SSHServer.run { server in
            let scratch = try await Self.open(server)
            let name = try await Self.interrupted(scratch)
            let place = scratch.there(name)
            let victim = server.folder + "/victim"
            let kept = String(repeating: "v", count: 15 * Self.part)
            try kept.write(toFile: victim, atomically: false, encoding: .utf8)
            switch how {
            case "gone": unlink(place)
            case "short": truncate(place, off_t(Self.part))
            case "link":
                unlink(place)
                symlink(victim, place)
            case "swapped": break
            // Only root can give it away.
            case "foreign" where geteuid() == 0: #expect(chown(server.root, 65_534, 65_534) == 0)
            default: chmod(server.root, 0o777)
            }
            let before = try await Self.connected(scratch)
            let isSwapped = Locked(how != "swapped")
            _ = try await Self.write(scratch, Self.content) { _ in
                // While the parts are compared, after the file was looked at.
                isSwapped.withLock { isSwapped in
                    guard !isSwapped else { return }
                    isSwapped = true
                    unlink(place)
                    symlink(victim, place)
                }
            }
            #expect(isSwapped.withLock { $0 })
            #expect(try Self.sent(scratch) - before > 20 * Self.part)
            #expect(try Self.there(scratch) == Self.content)
            #expect(try String(contentsOfFile: victim, encoding: .utf8) == kept)
            #expect(try await eventually { try scratch.leftovers().isEmpty })
            await scratch.storage.close()
        }
    }

    /// One changed byte costs one part; where the server copies none, all.
    @Test(arguments: ["internal-sftp", "internal-sftp -P copy-data"])
    func onlyChangedPartsAreSent(_ subsystem: String) async throws {
        try await SSHServer.run(.openSSH(subsystem)) { server in
            var scratch = try await Self.open(server)
            let first = try await Self.write(scratch, Self.content)
            await scratch.storage.close()
            scratch = try await Self.open(server)
            let copies = subsystem == "internal-sftp"
            var (content, version) = (Self.content, try #require(first.version))
            for index in [4 * Self.part + 17, Self.content.count - 1] {
                content[index] ^= 1
                let before = try await Self.connected(scratch)
                let entry = try await Self.write(scratch, content, guard: .version(version))
                #expect(try (Self.sent(scratch) - before < 3 * Self.part) == copies)
                #expect(try Self.there(scratch) == content && entry.version != version)
                version = try #require(entry.version)
            }
            await scratch.storage.close()
        }
    }

    /// Versions are sizes and seconds: another client's content that may have the version of ours is never copied from.
    @Test func partsOfTwoFilesAreNeverJoined() async throws {
        try await SSHServer.run { server in
            let scratch = try await Self.open(server)
            // The server's clock may be about to reach it.
            let seconds = time(nil) + 3_600
            let ours = try await Self.write(
                scratch, Self.content,
                PathAttributes(modificationDate: Timestamp(seconds: Int64(seconds), nanoseconds: 0)))
            let theirs = [UInt8](repeating: 7, count: Self.content.count)
            try Data(theirs).write(to: URL(filePath: scratch.there("large")))
            var times = [timeval(tv_sec: seconds, tv_usec: 0), timeval(tv_sec: seconds, tv_usec: 0)]
            #expect(utimes(scratch.there("large"), &times) == 0)
            var content = Self.content
            content[5] ^= 1
            _ = try await Self.write(scratch, content, guard: .version(try #require(ours.version)))
            #expect(try Self.there(scratch) == content)
            await scratch.storage.close()
        }
    }

    /// The same for a file that was moved to the place of another one.
    @Test(arguments: ["", "folder/"]) func nothingIsCopiedFromAMovedFile(_ folder: String) async throws {
        try await SSHServer.run { server in
            let scratch = try await Self.open(server)
            for name in folder.isEmpty ? [] : ["folder", "other-folder"] { mkdir(scratch.there(name), 0o755) }
            let (ours, theirs) = (folder + "large", folder.isEmpty ? "other" : "other-folder/large")
            let first = try await Self.write(scratch, Self.content, at: ours)
            let other = [UInt8](repeating: 7, count: Self.content.count)
            let second = try await Self.write(scratch, other, at: theirs)
            #expect(first.version == second.version)
            if folder.isEmpty {
                _ = try await scratch.storage.move(scratch.path(ours), to: scratch.path("away"), version: first.version)
                _ = try await scratch.storage.move(
                    scratch.path(theirs), to: scratch.path(ours), version: second.version)
            } else {
                for (name, target) in [("folder", "away"), ("other-folder", "folder")] {
                    _ = try await scratch.storage.move(scratch.path(name), to: scratch.path(target), version: nil)
                }
            }
            var content = Self.content
            content[5] ^= 1
            _ = try await Self.write(scratch, content, at: ours, guard: .version(try #require(second.version)))
            #expect(try Self.there(scratch, ours) == content)
            await scratch.storage.close()
        }
    }

    /// The end of what a server had acknowledged is gone, as after its crash.
    @Test func dataLostByTheServerIsSentAgain() async throws {
        try await SSHServer.run { server in
            let scratch = try await Self.open(server)
            let isCut = Locked(false)
            let error = try await failure {
                _ = try await Self.write(scratch, Self.content) { count in
                    guard count == Self.content.count, let left = try? scratch.leftovers().first else { return }
                    isCut.withLock { isCut in
                        if !isCut { isCut = truncate(scratch.there(left), off_t(19 * Self.part + 5)) == 0 }
                    }
                }
            }
            guard case .unreachable = error, isCut.withLock({ $0 }) else { throw BrokenPromise("\(error)") }
            #expect(try await scratch.names().isEmpty)
            #expect(try await eventually { try scratch.leftovers().isEmpty })
            _ = try await Self.write(scratch, Self.content)
            #expect(try Self.there(scratch) == Self.content)
            await scratch.storage.close()
        }
    }

    /// What is left of an upload that nobody continues goes in time.
    @Test func abandonedUploadsExpire() async throws {
        try await SSHServer.run { server in
            let scratch = try await Self.open(server)
            let name = try await Self.interrupted(scratch)
            _ = try await Self.connected(scratch)
            #expect(try await scratch.names().isEmpty && scratch.leftovers() == [name])
            var times = [timeval(tv_sec: 1_000_000, tv_usec: 0), timeval(tv_sec: 1_000_000, tv_usec: 0)]
            #expect(utimes(scratch.there(name), &times) == 0)
            #expect(try await scratch.names().isEmpty)
            #expect(try await eventually { try scratch.leftovers().isEmpty })
            await scratch.storage.close()
        }
    }
}
