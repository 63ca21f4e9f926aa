import Foundation
import Glibc
import PathStore
import ReplicaModel
import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import RcloneStore

/// Behavior specific to rclone.
@Suite struct RcloneStorageTests {
    private static let attributes = PathAttributes(
        modificationDate: Timestamp(seconds: 1_580_000_000, nanoseconds: 123_456_789))

    @Test(arguments: RcloneRemote.allCases) func contentsAreReadAsWritten(_ remote: RcloneRemote) async throws {
        try await RcloneScratch.run(remote) { scratch in
            for size in [0, 1, 5_000, 150_000, 5 << 20] {
                let content = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ ($0 >> 9)) }
                let entry = try await scratch.write("file-\(size)", content, Self.attributes)
                #expect(entry.size == Int64(size))
                #expect(try await scratch.read("file-\(size)", version: entry.version) == content)
                #expect(try await scratch.other.content(at: "file-\(size)") == content)
                if size > 0 { try await scratch.checkRanges(of: "file-\(size)", version: entry.version, content) }
                if scratch.storage.properties.keepsModificationDates {
                    #expect(entry.attributes.modificationDate == Self.attributes.modificationDate)
                    #expect(try await scratch.entry("file-\(size)")?.attributes == entry.attributes)
                }
            }
            #expect(try await scratch.list().count == 5)
        }
    }

    @Test(arguments: [RcloneRemote.disk, .secret, .chunks]) func aTimeIsSet(_ remote: RcloneRemote) async throws {
        try await RcloneScratch.run(remote) { scratch in
            try await scratch.write("a file", "text")
            let entry = try await scratch.storage.set(Self.attributes, of: scratch.path("a file"))
            #expect(entry.attributes.modificationDate == Self.attributes.modificationDate)
            #expect(try await scratch.theirs("a file") == "text")
        }
    }

    /// If only size and time distinguish contents, a new content never has the version of the one that it replaces.
    @Test(arguments: [RcloneRemote.disk, .secret]) func contentsOfTheSameSizeAndTimeAreDistinguished(
        _ remote: RcloneRemote
    ) async throws {
        try await RcloneScratch.run(remote) { scratch in
            let former = try await scratch.write("file", "former", Self.attributes)
            let version = try #require(former.version)
            let latter = try await scratch.write("file", "latter", Self.attributes, guard: .version(version))
            #expect(latter.version != version)
            #expect(try await scratch.read("file", version: latter.version) == Array("latter".utf8))
        }
    }

    @Test(
        arguments: [
            ([], 1, 0), ([], 1_000_000, 0), ([], 1_000_000_000, 1_000_000_000), (["md5"], 1_000_000_000, 0),
            ([], 3_153_600_000_000_000_000, 2_000_000_000), (["crc32"], 2_000_000_000, 2_000_000_000),
        ] as [([String], Int64, Int64)])
    func thePrecisionOfTimesLimitsVersions(_ hashes: [String], _ precision: Int64, _ grain: Int64) throws {
        let text = #"{"String":"x","Precision":\#(precision),"Hashes":\#(hashes),"Features":{}}"#
        let info = try JSONDecoder().decode(RemoteInfo.self, from: Data(text.utf8))
        #expect(RemoteAbilities(info, setsTimes: true).grain == grain)
    }

    /// In the memory of one process another process can't set it, so it is not declared.
    @Test func unsettableAttributesAreNotDeclared() async throws {
        try await RcloneScratch.run(.memory) { scratch in
            #expect(!scratch.storage.properties.keepsModificationDates)
        }
    }

    @Test func propertiesFollowTheRemotesFeatures() async throws {
        var found: [RcloneRemote: PathStorageProperties] = [:]
        for remote in RcloneRemote.allCases { found[remote] = try await remote.folder().storage().properties }
        // A stored hash is an exact version; one that would have to be computed from the content is not used.
        #expect(found[.memory]?.changeGrain == 0 && found[.chunks]?.changeGrain == 0)
        #expect(found[.disk]?.changeGrain == 0 && found[.secret]?.changeGrain == 0)
        #expect(found[.secret]?.longestName == 143 && found[.disk]?.longestName == 255)
        #expect(found[.memory]?.listsDeep == true && found[.disk]?.listsDeep == false)
        for properties in found.values {
            #expect(properties.createStrength == .checked && properties.moveStrength == .checked)
        }
    }

    @Test func theSpaceOfTheRemoteIsReported() async throws {
        var status = statvfs()
        try await RcloneScratch.run(.disk) { scratch in
            #expect(statvfs(RcloneRemote.base, &status) == 0)
            let usage = try #require(try await scratch.storage.usage())
            #expect(usage.total == Int64(status.f_blocks) * Int64(status.f_frsize) && usage.free < usage.total)
        }
        try await RcloneScratch.run(.memory) { scratch in
            #expect(!scratch.storage.properties.tellsUsage)
            let usage = try await scratch.storage.usage()
            #expect(usage == nil)
        }
    }

    @Test(arguments: [RcloneRemote.disk, .secret]) func namesAreListedAsWritten(_ remote: RcloneRemote) async throws {
        try await RcloneScratch.run(remote) { scratch in
            let longest = String(repeating: "n", count: scratch.storage.properties.longestName)
            let names = [
                "a b", "a%20b", "a+b", "q?x", "h#x", "[br]ack]et", "é", "e\u{301}", "back\\slash", "␊", "c:d", "~",
                " x ", "...", "-flag", "𝄞", longest,
            ]
            try await scratch.folder("in [this] one")
            for name in names { try await scratch.write("in [this] one/\(name)", name) }
            let page = try await scratch.storage.list(scratch.path("in [this] one"), isDeep: false, from: nil)
            // As bytes: as text, both forms of é are equal.
            #expect(Set(page.entries.compactMap(\.path.name)) == Set(names.map { FileName($0) }))
            for name in names {
                #expect(try await scratch.read("in [this] one/\(name)") == Array(name.utf8), "\(name)")
            }
            let error = try await failure { try await scratch.write(longest + "n", "x") }
            guard case .refused = error else {
                Issue.record("\(error)")
                return
            }
        }
    }

    @Test(arguments: ["a\nb", "a\u{7F}b", ".replica-tmp-1", "x.1.replica-tmp", ".replica-folder", "‛"])
    func impossibleNamesAreRejected(_ name: String) async throws {
        try await RcloneScratch.run(.disk) { scratch in
            let error = try await failure { try await scratch.write(name, "x") }
            guard case .refused = error else {
                Issue.record("\(error)")
                return
            }
            #expect(try await scratch.entry(name) == nil)
        }
    }

    /// Empty folders exist, even if rclone's remote has none.
    @Test(arguments: RcloneRemote.allCases) func emptyFoldersAreKept(_ remote: RcloneRemote) async throws {
        try await RcloneScratch.run(remote) { scratch in
            try await scratch.folder("folder")
            try await scratch.folder("folder/inner")
            #expect(try await scratch.entry("folder/inner")?.kind == .folder)
            #expect(try await scratch.list("folder").keys.sorted() == ["inner"])
            let entry = try await scratch.write("folder/inner/file", "text")
            _ = try await scratch.storage.move(
                scratch.path("folder/inner/file"), to: scratch.path("file"), version: entry.version)
            #expect(try await scratch.list("folder/inner").isEmpty)
            _ = try await scratch.storage.move(scratch.path("folder"), to: scratch.path("moved"), version: nil)
            #expect(try await scratch.entry("folder") == nil)
            #expect(try await scratch.entry("moved/inner")?.kind == .folder)
            let error = try await failure {
                try await scratch.storage.remove(scratch.path("moved"), version: nil)
            }
            #expect(error == .notEmpty)
            try await scratch.storage.remove(scratch.path("moved/inner"), version: nil)
            try await scratch.storage.remove(scratch.path("moved"), version: nil)
            #expect(try await scratch.list().keys.sorted() == ["file"])
        }
    }

    /// Folders of other clients stay when their contents are removed, like on a disk.
    @Test func aFolderIsKeptWithoutItsLastFile() async throws {
        try await RcloneScratch.run(.memory) { scratch in
            try await scratch.put("theirs/file", "x")
            let entry = try #require(try await scratch.entry("theirs/file"))
            try await scratch.storage.remove(entry.path, version: entry.version)
            #expect(try await scratch.entry("theirs")?.kind == .folder)
        }
    }

    @Test(arguments: RcloneRemote.allCases) func preconditionsAreChecked(_ remote: RcloneRemote) async throws {
        try await RcloneScratch.run(remote) { scratch in
            let first = try await scratch.write("file", "first")
            guard case .taken = try await failure({ try await scratch.write("file", "other") }),
                case .notFound = try await failure({ try await scratch.write("no/file", "other") })
            else {
                Issue.record("a condition was not tested")
                return
            }
            try await scratch.put("file", "theirs")
            let version = WriteGuard.version(try #require(first.version))
            guard case .changed = try await failure({ try await scratch.write("file", "other", guard: version) }),
                case .changed = try await failure({
                    try await scratch.storage.remove(first.path, version: first.version)
                })
            else {
                Issue.record("a condition was not tested")
                return
            }
            #expect(try await scratch.theirs("file") == "theirs")
            // A version that no longer exists is not read.
            guard case .changed = try await failure({ _ = try await scratch.read("file", version: first.version) })
            else {
                Issue.record("another version was read")
                return
            }
            try await scratch.folder("folder")
            guard case .taken = try await failure({ try await scratch.write("folder", "x") }) else {
                Issue.record("a folder was written over")
                return
            }
        }
    }

    /// An empty folder in the place of the store's, such as an unmounted disk, proves nothing.
    @Test func anAbsentRootProvesNothing() async throws {
        try await RcloneScratch.run(.disk) { scratch in
            try await scratch.write("file", "text")
            let place = RcloneRemote.base + "/disk/" + scratch.other.root.dropFirst("disk:".count)
            try FileManager.default.moveItem(atPath: place, toPath: place + ".away")
            for path in ["file", "other", ""] {
                guard case .unreachable = try await failure({ _ = try await scratch.entry(path) }),
                    case .unreachable = try await failure({ _ = try await scratch.list(path) })
                else {
                    Issue.record("\(path) was said to be gone")
                    return
                }
            }
            try FileManager.default.moveItem(atPath: place + ".away", toPath: place)
            #expect(try await scratch.entry("file") != nil)
        }
    }

    /// Temporary names contain their creation day: the file's time is that of its content, which may be of any age.
    @Test func transfersInProgressAreKept() async throws {
        try await RcloneScratch.run(.disk) { scratch in
            let place = RcloneRemote.base + "/disk/" + scratch.other.root.dropFirst("disk:".count)
            let now = Int64(Date().timeIntervalSince1970)
            let (new, old) = ([now, now - 80_000], now - 200_000)
            let own = TemporaryName.made(old)
            let young =
                new.map { TemporaryName.made($0).description } + ["x.12345678\(TemporaryName.suffix(now))", "\(own)"]
            let stale = [TemporaryName.made(old).description, "x.12345678\(TemporaryName.suffix(old))"]
            let others = [".replica-tmp-7", "x.12345678.replica-tmp"]
            _ = scratch.storage.underWay.withLock { $0.insert(StoragePath([own])) }
            for name in young + stale + others {
                try await scratch.put(name, "text")
                let times = [FileAttributeKey.modificationDate: Date(timeIntervalSince1970: 1_550_000_000)]
                try FileManager.default.setAttributes(times, ofItemAtPath: "\(place)/\(name)")
            }
            #expect(try await scratch.list().isEmpty)
            let left = try FileManager.default.contentsOfDirectory(atPath: place)
            #expect(left.sorted() == (young + others).sorted())
            #expect(scratch.storage.leftovers.withLock { $0 }.isEmpty)
        }
    }

    /// A file being sent has the day in its name, and finally its own name.
    @Test func namesOfTransfersContainTheirStart() {
        #expect(TemporaryName.start(TemporaryName.made(1_700_000_000)) == 1_700_000_000)
        #expect(TemporaryName.suffix(1_700_000_000).utf8.count == 16)
        #expect(TemporaryName.start(FileName("a" + TemporaryName.suffix(1_700_000_000))) == 1_700_006_400)
        for name in [".replica-tmp-", ".replica-tmp-7", ".replica-tmp-99999999999999-x", "a.replica-tmp", "a"] {
            #expect(TemporaryName.start(FileName(name)) == nil, "\(name)")
        }
    }

    /// A client may set any time on a file.
    @Test func extremeTimesAreParsed() throws {
        let text = #"{"String":"x","Precision":1000,"Features":{}}"#
        let info = try JSONDecoder().decode(RemoteInfo.self, from: Data(text.utf8))
        let item = RemoteItem(path: "x", size: 1, modified: "1970-01-01T00:00:00Z", isFolder: false)
        for time in [Int64.min, .max, 5_000] {
            let time = Timestamp(nanoseconds: time)
            #expect(RemoteAbilities(info, setsTimes: true).time(time, over: item, size: 1) == time)
        }
        let last = RemoteItem(path: "x", size: 1, modified: "2262-04-11T23:47:16.854775807Z", isFolder: false)
        let time = Timestamp(nanoseconds: .max - 1)
        #expect(RemoteAbilities(info, setsTimes: true).time(time, over: last, size: 1) == time)
    }

    /// An incomplete copy is removed before the next start.
    @Test func theOutboxKeepsNoPartialFile() throws {
        let state = try RcloneRemote.state()
        let outbox = try OutgoingFiles(state: state)
        let path = state + "/file"
        try "text".write(toFile: path, atomically: false, encoding: .utf8)
        // A file with a second name is copied, and this descriptor is not readable.
        #expect(link(path, path + "2") == 0)
        let file = open(path, O_WRONLY)
        defer { close(file) }
        let parcel = try outbox.parcel(ItemContents(file: FileDescriptor(rawValue: file), size: 4), nil)
        #expect(parcel?.name == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: state + "/outbox") == ["nothing"])
    }

    /// Files that a dead run was about to send are removed by the next run.
    @Test func theOutboxStartsEmpty() throws {
        let state = try RcloneRemote.state()
        _ = try OutgoingFiles(state: state)
        try "text".write(toFile: state + "/outbox/u7", atomically: false, encoding: .utf8)
        _ = try OutgoingFiles(state: state)
        #expect(try FileManager.default.contentsOfDirectory(atPath: state + "/outbox") == ["nothing"])
    }

    /// Incomplete files of a dead run don't disturb other calls.
    @Test func partialFilesAreNotListed() async throws {
        try await RcloneScratch.run(.disk) { scratch in
            try await scratch.put("file.1234abcd.replica-tmp", "half")
            try await scratch.put(".replica-tmp-7", "half")
            try await scratch.write("file", "text")
            #expect(try await scratch.list().keys.sorted() == ["file"])
        }
    }

    /// Without moves of its own, rclone copies and removes: if that was interrupted, the file is at both places, and the move
    /// continues when it is repeated. Elsewhere, and for other bytes, the name is taken.
    @Test func anInterruptedMoveIsContinued() async throws {
        try await RcloneScratch.run(.memory) { scratch in
            let entry = try await scratch.write("file", "text")
            try await scratch.put("copy", "text")
            try await scratch.put("other", "tent")
            let error = try await failure {
                _ = try await scratch.storage.move(
                    scratch.path("file"), to: scratch.path("other"), version: entry.version)
            }
            guard case .taken = error else { throw BrokenPromise("\(error)") }
            let moved = try await scratch.storage.move(
                scratch.path("file"), to: scratch.path("copy"), version: entry.version)
            #expect(moved.path == scratch.path("copy") && moved.version == entry.version)
            #expect(try await scratch.list().keys.sorted() == ["copy", "other"])
            #expect(try await scratch.theirs("copy") == "text")
        }
        try await RcloneScratch.run(.chunks) { scratch in
            try #require(scratch.storage.abilities.movesFiles && scratch.storage.abilities.hash != nil)
            let entry = try await scratch.write("file", "text")
            try await scratch.put("copy", "text")
            let error = try await failure {
                _ = try await scratch.storage.move(
                    scratch.path("file"), to: scratch.path("copy"), version: entry.version)
            }
            guard case .taken = error else { throw BrokenPromise("\(error)") }
            #expect(try await scratch.list().keys.sorted() == ["copy", "file"])
        }
    }
}
