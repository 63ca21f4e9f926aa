import Foundation
import Glibc
import PathStore
import ReplicaModel
import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import SFTPStore

/// A storage on a real OpenSSH server, checked on its disk.
@Suite struct SFTPStorageTests {
    @Test func theServersFeaturesAreDetected() async throws {
        try await SFTPScratch.run { scratch in
            let properties = scratch.storage.properties
            #expect(properties.createStrength == .atomic && properties.replaceStrength == .checked)
            #expect(properties.keepsModes && properties.keepsModificationDates && properties.keepsSymlinks)
            #expect(properties.isCaseSensitive && !properties.keepsMarks && properties.changeGrain == 1_000_000_000)
            // The test files are removed.
            let left = try FileManager.default.contentsOfDirectory(atPath: scratch.server.root)
            #expect(left.isEmpty)
        }
    }

    @Test func writtenFilesAreOnTheDisk() async throws {
        try await SFTPScratch.run { scratch in
            let date = Timestamp(seconds: 1_700_000_000, nanoseconds: 123_456_789)
            let entry = try await scratch.write("file", "hello", PathAttributes(mode: 0o4751, modificationDate: date))
            #expect(entry.kind == .file && entry.size == 5 && entry.version == "1700000000-5")
            #expect(entry.attributes.mode == 0o4751)
            #expect(entry.attributes.modificationDate == Timestamp(seconds: 1_700_000_000, nanoseconds: 0))
            #expect(try await scratch.storage.entry(at: scratch.path("file")) == entry)
            #expect(try scratch.content("file") == "hello")
            let found = try scratch.shell("file")
            #expect(found.st_mode == S_IFREG | 0o4751 && found.st_mtim.tv_sec == 1_700_000_000 && found.st_nlink == 1)
            let again = try await scratch.write("file", "other", guard: .version(try #require(entry.version)))
            #expect(again.version != entry.version && again.attributes.mode == 0o4751)
            #expect(try scratch.content("file") == "other")
            #expect(try scratch.leftovers().isEmpty)
            // Bytes, not text.
            let name = FileName(bytes: [0xFF, 0x0A, 0x2D])
            _ = try await scratch.storage.make(
                StoragePath([name]), kind: .symlink([0xFE, 0x2F]), attributes: PathAttributes())
            let entries = try await scratch.storage.list(.root, isDeep: false, from: nil).entries
            #expect(entries.contains { $0.path.name == name && $0.kind == .symlink([0xFE, 0x2F]) })
        }
    }

    @Test func theSpaceOfTheServersDiskIsReported() async throws {
        try await SFTPScratch.run { scratch in
            var status = statvfs()
            #expect(statvfs(scratch.server.root, &status) == 0)
            let usage = try #require(try await scratch.storage.usage())
            #expect(usage.total == Int64(status.f_blocks) * Int64(status.f_frsize) && usage.free < usage.total)
        }
        // rclone announces statvfs@openssh.com, and does not have it.
        try await SFTPScratch.run(.rclone) { scratch in
            let usage = try await scratch.storage.usage()
            #expect(usage == nil)
        }
    }

    /// Sizes around the packet size, with more packets than the number in flight, and holes.
    @Test func contentsOfAnySizeAreReadAsWritten() async throws {
        try await SFTPScratch.run { scratch in
            var random = SeededBytes(seed: 4)
            let packet = scratch.storage.reconnector.sizeOfPackets
            for size in [0, 1, packet - 1, packet, packet + 1, 20 * packet + 17] {
                var content = [UInt8](repeating: 0, count: size)
                for index in stride(from: 0, to: size, by: 13) {
                    content[index] = UInt8(truncatingIfNeeded: random.next())
                }
                try await scratch.write("file \(size)", content)
                #expect(try Data(contentsOf: URL(filePath: scratch.there("file \(size)"))) == Data(content))
                #expect(try await scratch.read("file \(size)") == content)
                let range = Int64(size / 3)..<Int64(size / 2)
                let part = try await scratch.read("file \(size)", range: range)
                #expect(part.suffix(range.count) == content[Int(range.lowerBound)..<Int(range.upperBound)])
            }
            // Holes are not sent, and the size is kept.
            let file = "\(scratch.server.folder)/sparse"
            let descriptor = open(file, O_RDWR | O_CREAT, 0o600)
            defer { close(descriptor) }
            pwrite(descriptor, "data", 4, 5 << 20)
            ftruncate(descriptor, 64 << 20)
            let contents = ItemContents(file: .init(rawValue: descriptor), size: 64 << 20)
            let entry = try await scratch.storage.write(
                scratch.path("sparse"), contents: contents, attributes: PathAttributes(), guard: .absent)
            let found = try scratch.shell("sparse")
            #expect(entry.size == 64 << 20 && found.st_size == 64 << 20 && found.st_blocks < 1 << 12)
            let back = try await scratch.read("sparse", range: 5 << 20..<5 << 20 + 4)
            #expect(back.suffix(4) == Array("data".utf8)[...])
        }
    }

    /// Of many creates of one name, one succeeds and the others don't change it.
    @Test func aCreateReplacesNothing() async throws {
        try await SFTPScratch.run { scratch in
            let second = try await SFTPStorage.open(try scratch.server.address, command: scratch.server.command)
            let other = SFTPScratch(server: scratch.server, storage: second)
            for round in 0..<20 {
                let won = await withTaskGroup(of: String?.self) { group in
                    for number in 0..<8 {
                        group.addTask {
                            let mine = number % 2 == 0 ? scratch : other
                            do {
                                try await mine.write("raced \(round)", "writer \(number)")
                                return "writer \(number)"
                            } catch PathStorageError.taken(let entry) {
                                #expect(entry?.size == 8)
                                return nil
                            } catch {
                                Issue.record("\(error)")
                                return nil
                            }
                        }
                    }
                    return await group.reduce(into: []) { $0 += $1.map { [$0] } ?? [] }
                }
                let content = try scratch.content("raced \(round)")
                #expect(won == [content])
            }
            await second.close()
            #expect(try scratch.leftovers().isEmpty)
            // Nor one that another client created between the check and the act.
            try "theirs".write(toFile: scratch.there("foreign"), atomically: false, encoding: .utf8)
            #expect(mkfifo(scratch.there("pipe"), 0o600) == 0)
            guard case .taken = try await failure({ try await scratch.write("foreign", "ours") }) else {
                throw BrokenPromise("it should be taken")
            }
            // An entry that can't be kept is neither replaced nor shown.
            guard case .refused = try await failure({ try await scratch.write("pipe", "ours") }) else {
                throw BrokenPromise("it should be refused")
            }
            let names = try await scratch.names()
            #expect(try scratch.content("foreign") == "theirs" && !names.contains("pipe"))
        }
    }

    @Test func preconditionsAreChecked() async throws {
        try await SFTPScratch.run { scratch in
            let entry = try await scratch.write("file", "first")
            let version = try #require(entry.version)
            try "theirs, longer".write(toFile: scratch.there("file"), atomically: false, encoding: .utf8)
            guard
                case .changed(let now) = try await failure({
                    try await scratch.write("file", "second", guard: .version(version))
                })
            else { throw BrokenPromise("it should be changed") }
            #expect(now?.size == 14)
            guard
                case .changed = try await failure({
                    try await scratch.storage.remove(scratch.path("file"), version: version)
                })
            else { throw BrokenPromise("it should be changed") }
            guard
                case .changed = try await failure({
                    _ = try await scratch.storage.move(
                        scratch.path("file"), to: scratch.path("moved"), version: version)
                })
            else { throw BrokenPromise("it should be changed") }
            guard case .changed = try await failure({ _ = try await scratch.read("file", version: version) }) else {
                throw BrokenPromise("it should be changed")
            }
            try await scratch.write("other", "other")
            guard
                case .taken = try await failure({
                    _ = try await scratch.storage.move(
                        scratch.path("file"), to: scratch.path("other"), version: now?.version)
                })
            else { throw BrokenPromise("it should be taken") }
            #expect(try scratch.content("file") == "theirs, longer")
            #expect(try scratch.content("other") == "other")
            #expect(try scratch.leftovers().isEmpty)
        }
    }

    /// Another client's write during an upload is checked for right before the file is published.
    @Test(arguments: [SSHServer.Program.openSSH("internal-sftp"), .rclone])
    func aWriteDuringAnUploadIsSeen(_ program: SSHServer.Program) async throws {
        try await SFTPScratch.run(program) { scratch in
            let entry = try await scratch.write("file", "first")
            for (name, condition) in [("file", WriteGuard.version(entry.version ?? "")), ("new", .absent)] {
                let place = scratch.there(name)
                let error = try await failure {
                    let outcome = try await ItemContents.with(Array("ours".utf8)) {
                        contents async throws(RemoteStoreError) in
                        let told = ItemContents(file: contents.file, size: contents.size) { _ in
                            // A disk that takes no more fails the test below.
                            try? "theirs, meanwhile".write(toFile: place, atomically: false, encoding: .utf8)
                        }
                        do throws(PathStorageError) {
                            return Result<PathEntry, PathStorageError>.success(
                                try await scratch.storage.write(
                                    scratch.path(name), contents: told, attributes: PathAttributes(), guard: condition))
                        } catch {
                            return .failure(error)
                        }
                    }
                    _ = try outcome.get()
                }
                switch error {
                case .changed(let now): #expect(name == "file" && now?.size == 17)
                case .taken(let now): #expect(name == "new" && now?.size == 17)
                default: Issue.record("\(error)")
                }
                #expect(try scratch.content(name) == "theirs, meanwhile")
            }
            #expect(try await eventually { try scratch.leftovers().isEmpty })
        }
    }

    /// A mixture of two contents is rejected.
    @Test func aWriteDuringAReadIsSeen() async throws {
        try await SFTPScratch.run { scratch in
            let packet = scratch.storage.reconnector.sizeOfPackets
            // A write within the same second would have the same version.
            let past = PathAttributes(modificationDate: Timestamp(seconds: 1_700_000_000, nanoseconds: 0))
            let entry = try await scratch.write("file", [UInt8](repeating: 1, count: 20 * packet), past)
            let place = scratch.there("file")
            let sink = MeddlingSink {
                let descriptor = open(place, O_WRONLY)
                pwrite(descriptor, "x", 1, off_t(19 * packet))
                close(descriptor)
            }
            let error = try await failure {
                _ = try await scratch.storage.read(
                    scratch.path("file"), version: entry.version, range: nil, into: sink)
            }
            guard case .changed(let now) = error else { throw BrokenPromise("\(error)") }
            #expect(now?.size == entry.size && now?.version != entry.version)
        }
    }

    /// Versions are times and sizes: a replacement with the same values gets another second.
    @Test func replacedContentHasAnotherVersion() async throws {
        try await SFTPScratch.run { scratch in
            let attributes = PathAttributes(modificationDate: Timestamp(seconds: 1_700_000_000, nanoseconds: 5))
            var entry = try await scratch.write("file", "0", attributes)
            for number in 1...5 {
                let former = entry.version
                entry = try await scratch.write("file", "\(number)", attributes, guard: .version(entry.version ?? ""))
                #expect(entry.attributes.modificationDate?.seconds ?? 0 <= 1_700_000_001)
                #expect(entry.version != former)
                #expect(try await scratch.storage.entry(at: scratch.path("file"))?.version == entry.version)
            }
        }
    }

    @Test func foldersAndSymlinksAreListedAsCreated() async throws {
        try await SFTPScratch.run { scratch in
            let date = Timestamp(seconds: 1_600_000_000, nanoseconds: 0)
            let storage = scratch.storage
            let attributes = PathAttributes(mode: 0o2750, modificationDate: date)
            let folder = try await storage.make(scratch.path("folder"), kind: .folder, attributes: attributes)
            // A folder's time changes with its entries, so it is set but not reported.
            #expect(folder.attributes == PathAttributes(mode: 0o2750))
            #expect(try scratch.shell("folder").st_mtim.tv_sec == 1_600_000_000)
            let link = try await storage.make(
                scratch.path("link"), kind: .symlink(Array("/nowhere".utf8)),
                attributes: PathAttributes(mode: 0o777, modificationDate: date))
            #expect(link.kind == .symlink(Array("/nowhere".utf8)) && link.attributes.modificationDate == date)
            #expect(try scratch.shell("link").st_mtim.tv_sec == 1_600_000_000)
            // A symlink to a folder is not a folder, even if the server follows it.
            try FileManager.default.createSymbolicLink(atPath: scratch.there("way"), withDestinationPath: "folder")
            try await scratch.write("folder/inner", "text")
            guard case .notFound = try await failure({ _ = try await scratch.names("way") }) else {
                throw BrokenPromise("it should be no folder")
            }
            try FileManager.default.createSymbolicLink(
                atPath: scratch.there("file"), withDestinationPath: "folder/inner")
            guard case .notFound = try await failure({ _ = try await scratch.read("file") }) else {
                throw BrokenPromise("it should be no file")
            }
            // Attributes of a symlink are never those of its target.
            _ = try await storage.set(PathAttributes(mode: 0o600, modificationDate: date), of: scratch.path("file"))
            #expect(try scratch.shell("folder/inner").st_mode & 0o777 == 0o644)
            #expect(try scratch.shell("folder/inner").st_mtim.tv_sec != 1_600_000_000)
            guard
                case .notEmpty = try await failure({
                    try await storage.remove(scratch.path("folder"), version: nil)
                })
            else { throw BrokenPromise("it should not be empty") }
            _ = try await storage.move(scratch.path("folder"), to: scratch.path("moved"), version: nil)
            #expect(try scratch.content("moved/inner") == "text")
            let inner = try await storage.entry(at: scratch.path("moved/inner"))
            try await storage.remove(scratch.path("moved/inner"), version: inner?.version)
            try await storage.remove(scratch.path("moved"), version: nil)
            try await storage.remove(scratch.path("moved"), version: nil)
            #expect(try await scratch.names() == ["file", "link", "way"])
        }
    }

    @Test func largeFoldersAreListedCompletely() async throws {
        try await SFTPScratch.run { scratch in
            for number in 0..<3_000 {
                #expect(FileManager.default.createFile(atPath: scratch.there("file \(number)"), contents: Data()))
                if number % 10 == 0 { symlink("file \(number)", scratch.there("link \(number)")) }
            }
            let entries = try await scratch.storage.list(.root, isDeep: false, from: nil).entries
            #expect(entries.count == 3_300 && Set(entries.map(\.path)).count == 3_300)
            #expect(entries.filter { if case .symlink = $0.kind { true } else { false } }.count == 300)
        }
    }

    /// The owner, which a login as root would change, is restored.
    @Test func aReplacedFileKeepsItsOwner() async throws {
        guard geteuid() == 0 else { return }
        try await SFTPScratch.run { scratch in
            let entry = try await scratch.write("file", "first", PathAttributes(mode: 0o640))
            #expect(chown(scratch.there("file"), 1_234, 4_321) == 0)
            try await scratch.write("file", "second", guard: .version(entry.version ?? ""))
            let found = try scratch.shell("file")
            #expect(found.st_uid == 1_234 && found.st_gid == 4_321 && found.st_mode & 0o7777 == 0o640)
        }
    }

    /// A missing store does not mean that everything was deleted.
    @Test func aMissingDirectoryProvesNothing() async throws {
        try await SFTPScratch.run { scratch in
            try await scratch.write("file", "text")
            try FileManager.default.moveItem(atPath: scratch.server.root, toPath: scratch.server.folder + "/away")
            for path in ["file", ""] {
                guard
                    case .unreachable(let text) = try await failure({
                        _ = try await scratch.storage.entry(at: scratch.path(path))
                    })
                else { throw BrokenPromise("it should be unreachable") }
                #expect(text.contains("no longer exists there"))
            }
            guard case .unreachable = try await failure({ _ = try await scratch.names() }) else {
                throw BrokenPromise("it should be unreachable")
            }
            try FileManager.default.moveItem(atPath: scratch.server.folder + "/away", toPath: scratch.server.root)
            #expect(try await scratch.names() == ["file"])
        }
    }

    @Test func temporaryFilesAreHiddenAndExpire() async throws {
        try await SFTPScratch.run { scratch in
            _ = try await scratch.storage.make(scratch.path("folder"), kind: .folder, attributes: PathAttributes())
            for name in ["old", "new"] {
                let place = scratch.there("folder/.replica-tmp-\(name)")
                #expect(FileManager.default.createFile(atPath: place, contents: Data()))
                if name == "old" {
                    let hourAgo = timespec(tv_sec: time(nil) - 3_600, tv_nsec: 0)
                    #expect(utimensat(AT_FDCWD, place, [hourAgo, hourAgo], 0) == 0)
                }
            }
            // A temporary file that is a day old is removed when the folder is listed, and nothing else is.
            let (dead, alive) = (scratch.there("folder/.replica-tmp-dead"), scratch.there("folder/.replica-tmp-alive"))
            for place in [dead, alive] {
                #expect(FileManager.default.createFile(atPath: place, contents: Data()))
                let access = time(nil) - (place == dead ? 100_000 : 0)
                let times = [timespec(tv_sec: access, tv_nsec: 0), timespec(tv_sec: 1_000_000_000, tv_nsec: 0)]
                #expect(utimensat(AT_FDCWD, place, times, 0) == 0)
            }
            #expect(try await scratch.names("folder").isEmpty)
            #expect(try await eventually { !FileManager.default.fileExists(atPath: dead) })
            #expect(
                try scratch.leftovers("folder").sorted() == [
                    ".replica-tmp-alive", ".replica-tmp-new", ".replica-tmp-old",
                ])
            unlink(alive)
            let remove = { try await scratch.storage.remove(scratch.path("folder"), version: nil) }
            // Somebody writes there.
            guard case .notEmpty = try await failure(remove) else { throw BrokenPromise("it should not be empty") }
            unlink(scratch.there("folder/.replica-tmp-new"))
            try await remove()
            #expect(try await scratch.names().isEmpty)
            guard case .refused = try await failure({ try await scratch.write(".replica-tmp-mine", "x") }) else {
                throw BrokenPromise("the name should be refused")
            }
        }
    }

    /// The server only reports a failure.
    @Test func fullAndReadOnlyDisksAreReported() async throws {
        guard geteuid() == 0 else { return }
        try await SFTPScratch.run { scratch in
            let root = scratch.server.root
            #expect(mount("none", root, "tmpfs", 0, "size=1m") == 0)
            defer { umount2(root, Int32(MNT_DETACH)) }
            let entry = try await scratch.write("file", "text")
            let large = [UInt8](repeating: 7, count: 3 << 20)
            for attempt in [
                { try await scratch.write("large", large) },
                { try await scratch.write("file", large, guard: .version(entry.version ?? "")) },
            ] {
                guard case .insufficientQuota(let text) = try await failure({ _ = try await attempt() }) else {
                    throw BrokenPromise("it should be full")
                }
                #expect(text.contains("no space is left"))
            }
            #expect(try await eventually { try scratch.leftovers().isEmpty })
            #expect(try scratch.content("file") == "text")
            // The server may not have left the unlink(2) of what was just seen to be gone: busy until then.
            #expect(try await eventually { mount("none", root, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), nil) == 0 })
            for attempt in [
                { try await scratch.write("other", "text") },
                { try await scratch.storage.make(scratch.path("folder"), kind: .folder, attributes: PathAttributes()) },
                { try await scratch.storage.move(scratch.path("file"), to: scratch.path("new"), version: nil) },
                { try await scratch.storage.set(PathAttributes(mode: 0o600), of: scratch.path("file")) },
            ] {
                guard case .readOnly = try await failure({ _ = try await attempt() }) else {
                    throw BrokenPromise("it should be read-only")
                }
            }
            #expect(try await scratch.read("file") == Array("text".utf8))
        }
    }

    /// The server's clock is known from a file of ours: older files need no second check.
    @Test func anUnchangedFolderIsListedWithoutADelay() async throws {
        try await SFTPScratch.run { scratch in
            for number in 0..<500 {
                let file = scratch.there("file \(number)")
                let date = Date(timeIntervalSince1970: 1_600_000_000)
                #expect(
                    FileManager.default.createFile(
                        atPath: file, contents: Data("text".utf8), attributes: [.modificationDate: date]))
            }
            let table = scratch.server.folder + "/table"
            try FileManager.default.createDirectory(atPath: table, withIntermediateDirectories: false)
            var options = PathStoreOptions()
            let (sleep, waits) = (options.sleep, Locked(0))
            options.sleep = { time in
                waits.withLock { $0 += 1 }
                await sleep(time)
            }
            let store = try PathStore(scratch.storage, folder: table, options: options)
            let items = try await store.enumerateItems(in: .root, from: nil).items
            #expect(items.count == 500 && waits.withLock { $0 } == 0)
            // A file that was just written may be written again within its second.
            let date = Date(timeIntervalSinceNow: 60)
            #expect(
                FileManager.default.createFile(
                    atPath: scratch.there("new"), contents: Data(), attributes: [.modificationDate: date]))
            let more = try await store.enumerateItems(in: .root, from: nil).items
            #expect(more.count == 501 && waits.withLock { $0 } > 0)
        }
    }
}

/// Runs a closure at the first received bytes.
private final class MeddlingSink: ContentSink {
    private let meddle: @Sendable () -> Void
    private let isDone = Locked(false)

    init(_ meddle: @escaping @Sendable () -> Void) {
        self.meddle = meddle
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(RemoteStoreError) {
        let isFirst = isDone.withLock { done in
            defer { done = true }
            return !done
        }
        if isFirst { meddle() }
    }
}
