import Foundation
import Glibc
import HTTPStorage
import PathStore
import ReplicaModel
import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import WebDAVStore

/// The dialect of Nextcloud and ownCloud.
@Suite struct NextcloudTests {
    private static let server = WebDAVServer.nextcloud

    /// A store over a folder of the server, and another client of it.
    private static func run(_ body: (PathStore, WebDAVScratch) async throws -> Void) async throws {
        try await WebDAVScratch.run(server) { scratch in
            let folder = try TemporaryFolder()
            // The other interval does not change: only folders with changed versions are listed.
            var options = PathStoreOptions()
            options.openIntervalSeconds = 0
            let store = try PathStore(scratch.storage, folder: folder.path.string, options: options)
            let outcome: Result<Void, any Error>
            do { outcome = .success(try await body(store, scratch)) } catch { outcome = .failure(error) }
            try store.close()
            try outcome.get()
        }
    }

    @Test func nextcloudIsRecognized() async throws {
        let abilities = try await Self.server.abilities()
        #expect(abilities.hasNumbers && abilities.foldersTellChanges && abilities.hasTags && abilities.isExact)
        #expect(abilities.keepsProperties && abilities.creation == .conditional)
        #expect(abilities.properties.hasIdentities && abilities.properties.foldersTellChanges)
        // Other servers have no numbers, and ETags of folders that cover only the folder, or nothing.
        for other in [WebDAVServer.lighttpd, .apache, .nginx, .sabre] {
            let abilities = try await other.abilities()
            #expect(!abilities.hasNumbers && !abilities.foldersTellChanges, "\(other)")
        }
    }

    /// The fixture grants a terabyte; of the other servers, only sabre knows a quota.
    @Test func theQuotaIsReportedAsSpace() async throws {
        try await WebDAVScratch.run(Self.server) { scratch in
            try await scratch.put("file", String(repeating: "x", count: 5_000))
            let usage = try #require(try await scratch.storage.usage())
            #expect(usage.total == 1 << 40 && usage.used >= 5_000 && usage.free == usage.total - usage.used)
        }
        for other in [WebDAVServer.lighttpd, .apache, .nginx, .rclone] {
            try await WebDAVScratch.run(other) { scratch in
                let usage = try await scratch.storage.usage()
                #expect(usage == nil, "\(other)")
            }
        }
    }

    /// Nextcloud answers 500 to names that it keeps for itself: that is no full disk.
    @Test func aNameThatIsNotAcceptedIsNoFullDisk() async throws {
        try await WebDAVScratch.run(Self.server) { scratch in
            let error = try await failure { try await scratch.write(".htaccess", "text") }
            let words = "the server can't store it, perhaps because of its name: Could not write file contents (500)"
            #expect(error == .unavailable(".htaccess: \(words)"))
            try await scratch.write("other", "text")
        }
    }

    /// Nextcloud refuses `If-Match` on folders, though it tells their ETags.
    @Test func foldersAreMovedAndRemoved() async throws {
        try await WebDAVScratch.run(Self.server) { scratch in
            #expect(scratch.storage.abilities.movesConditionally && scratch.storage.abilities.removesConditionally)
            for folder in ["a", "empty"] { try await scratch.other.makeFolder(folder) }
            try await scratch.put("a/file", "text")
            let (from, to) = (StoragePath.root.appending(FileName("a")), StoragePath.root.appending(FileName("b")))
            _ = try await scratch.storage.move(from, to: to, version: nil)
            try await scratch.storage.remove(StoragePath.root.appending(FileName("empty")), version: nil)
            #expect(try await scratch.theirs("b/file") == "text")
            #expect(try await scratch.storage.entry(at: from) == nil)
            #expect(try await scratch.storage.entry(at: StoragePath.root.appending(FileName("empty"))) == nil)
        }
    }

    @Test func aFileMovedByOthersKeepsItsIdentity() async throws {
        try await Self.run { (store, scratch) in
            for folder in ["a", "b"] { try await scratch.other.makeFolder(folder) }
            try await scratch.put("a/file", "text")
            let folders = try await store.enumerateItems(in: .root, from: nil).items
            let a = try #require(folders.first { $0.filename == FileName("a") })
            let b = try #require(folders.first { $0.filename == FileName("b") })
            let file = try #require(try await store.enumerateItems(in: a.identifier, from: nil).items.first)
            _ = try await store.enumerateItems(in: b.identifier, from: nil)
            let anchor = try await store.enumerateChanges(from: try await store.currentAnchor()).anchor
            try await scratch.other.move("a/file", to: "b/other")
            try await scratch.put("b/other", "another text")
            let told = try await store.enumerateChanges(from: anchor)
            #expect(told.deleted.isEmpty && told.updated.map(\.identifier) == [file.identifier])
            #expect(told.updated.first?.parent == b.identifier && told.updated.first?.filename == FileName("other"))
        }
    }

    /// The number of requests of a comparison.
    @Test func onlyChangedFoldersAreListed() async throws {
        try await Self.run { (store, scratch) in
            for folder in ["a", "b", "a/1", "a/2", "b/1", "b/2"] { try await scratch.other.makeFolder(folder) }
            func list(_ folder: ItemIdentifier) async throws {
                for item in try await store.enumerateItems(in: folder, from: nil).items where item.kind == .folder {
                    try await list(item.identifier)
                }
            }
            try await list(.root)
            var anchor = try await store.enumerateChanges(from: try await store.currentAnchor()).anchor
            func cost() async throws -> (UInt64, [Item]) {
                let before = scratch.storage.steps
                let told = try await store.enumerateChanges(from: anchor)
                anchor = told.anchor
                return (scratch.storage.steps - before, told.updated)
            }
            #expect(try await cost().0 == 1)
            try await scratch.put("a/2/file", "text")
            let (requests, told) = try await cost()
            // The root, its listing, and those of the two folders.
            #expect(requests == 4 && told.map(\.filename) == [FileName("file")])
            #expect(try await cost().0 == 1)
        }
    }

    @Test func modificationTimesAreSet() async throws {
        try await WebDAVScratch.run(Self.server) { scratch in
            let date = Timestamp(seconds: 1_500_000_000, nanoseconds: 5)
            let made = try await scratch.write("file", "text", PathAttributes(modificationDate: date))
            #expect(made.attributes.modificationDate == date)
            let seen = try #require(try await scratch.other.connection.find([FileName("file")], isFolder: false)?.0)
            #expect(seen.modified == 1_500_000_000)
            // A time in whole seconds needs no property.
            let whole = Timestamp(seconds: 1_400_000_000, nanoseconds: 0)
            let before = scratch.storage.steps
            let second = try await scratch.write("second", "text", PathAttributes(modificationDate: whole))
            #expect(second.attributes.modificationDate == whole && scratch.storage.steps - before == 2)
        }
    }

    /// But not the store's internal files.
    @Test func removedFilesAreInTheTrash() async throws {
        try await WebDAVScratch.run(Self.server) { scratch in
            let name = "removed-\(UInt64.random(in: 0 ... .max))"
            let made = try await scratch.write(name, "text")
            try await scratch.storage.remove(scratch.path(name), version: made.version)
            let trash = try FileManager.default.contentsOfDirectory(atPath: try Self.server.data + "/../trash")
            #expect(trash.filter { $0.hasPrefix(name) }.count == 1)
            #expect(!trash.contains { $0.contains(WebDAVStorage.temporaryPrefix) })
        }
    }

    @Test func readOnlyFoldersAreReported() async throws {
        try await WebDAVScratch.run(Self.server) { scratch in
            try await scratch.put("file", "text")
            #expect(try await scratch.entry("file")?.attributes.mode == 0o644)
            let place = try #require(scratch.other.connection.address.path.last)
            #expect(chmod("\(try Self.server.data)/\(place)/file", 0o444) == 0)
            #expect(try await scratch.entry("file")?.attributes.mode == 0o444)
        }
    }

    // MARK: Chunks

    private static var small: WebDAVStorage.ChunkLimits {
        var limits = WebDAVStorage.ChunkLimits()
        (limits.whole, limits.chunk) = (100_000, 40_000)
        return limits
    }

    private static func content(_ factor: Int, _ size: Int = 150_001) -> [UInt8] {
        (0..<size).map { UInt8(truncatingIfNeeded: $0 &* factor &+ $0 >> 8) }
    }

    @Test func aLargeFileIsUploadedInChunksAndKeepsItsIdentity() async throws {
        let (first, second) = (Self.content(7), Self.content(11))
        let abilities = try await Self.server.abilities()
        let other = try await Self.server.folder()
        defer { other.connection.close() }
        let storage = try await WebDAVStorage.open(
            other.connection.address, WebDAVServer.login, abilities: abilities, chunks: Self.small)
        defer { storage.close() }
        let scratch = WebDAVScratch(storage: storage, other: other)
        let before = storage.steps
        let date = Timestamp(seconds: 1_500_000_000, nanoseconds: 0)
        let made = try await scratch.write("large", first, PathAttributes(modificationDate: date))
        // The folder for them, four chunks, the move and the check.
        #expect(storage.steps - before == 7)
        #expect(made.attributes.modificationDate == date)
        #expect(try await other.content(at: "large") == first)
        guard case .taken(let there) = try await failure({ try await scratch.write("large", second) }) else {
            Issue.record("it was another failure")
            return
        }
        #expect(there?.version == made.version)
        let replaced = try await scratch.write("large", second, guard: .version(try #require(made.version)))
        #expect(replaced.identity == made.identity && replaced.version != made.version)
        #expect(try await other.content(at: "large") == second)
        // The condition concerns the file, not the chunks.
        let old = try await failure {
            try await scratch.write("large", first, guard: .version(try #require(made.version)))
        }
        guard case .changed(let now) = old, now?.version == replaced.version else {
            Issue.record("it was \(old)")
            return
        }
        #expect(try await other.content(at: "large") == second)
    }

    /// What another client does.
    private typealias Deed = @Sendable () async throws -> Void

    /// A store that sends chunks, and what another client does right before they become a file.
    private static func runBehindProxy(_ body: (WebDAVScratch, Locked<Deed?>) async throws -> Void) async throws {
        let name = "session-\(UInt64.random(in: 0 ... .max))"
        let abilities = try await server.abilities()
        let other = try await server.folder(name)
        defer { other.connection.close() }
        let (place, port) = (try server.place, try server.port)
        let meanwhile = Locked<Deed?>(nil)
        let plan: HTTPFaultProxy.Plan = { request in
            guard request.words.first == "MOVE", let deed = meanwhile.withLock({ $0 }) else { return nil }
            let isDone = Latch()
            Task {
                do { try await deed() } catch { Issue.record("\(error)") }
                isDone.open()
            }
            isDone.wait()
            return nil
        }
        let proxy = try HTTPFaultProxy(to: { port }, plan: plan)
        defer { proxy.close() }
        let address = try WebDAVAddress(
            "127.0.0.1:\(proxy.port)\(place.drop { $0 != "/" })/\(name)", isSecure: false)
        let storage = try await WebDAVStorage.open(address, WebDAVServer.login, abilities: abilities, chunks: small)
        defer { storage.close() }
        try await body(WebDAVScratch(storage: storage, other: other), meanwhile)
    }

    /// Another client writes right before the chunks become the file: the server has to test the condition at that moment.
    @Test func writesByOthersAreNotOverwritten() async throws {
        try await Self.runBehindProxy { (scratch, meanwhile) in
            let version = try #require(try await scratch.write("large", Self.content(7)).version)
            meanwhile.withLock { $0 = { try await scratch.put("large", "theirs") } }
            let replacement = try await failure {
                try await scratch.write("large", Self.content(11), guard: .version(version))
            }
            if case .changed = replacement {} else { Issue.record("it was \(replacement)") }
            meanwhile.withLock { $0 = { try await scratch.put("new", "theirs") } }
            let creation = try await failure { try await scratch.write("new", Self.content(11)) }
            if case .taken = creation {} else { Issue.record("it was \(creation)") }
            for path in ["large", "new"] {
                #expect(try await scratch.other.content(at: path) == Array("theirs".utf8))
            }
        }
    }

    /// The server then answers 404: its test of the ETag has no file to look at. The chunks stay for the next upload.
    @Test func removalsByOthersAreNotUndone() async throws {
        try await Self.runBehindProxy { (scratch, meanwhile) in
            let version = try #require(try await scratch.write("large", Self.content(7)).version)
            meanwhile.withLock { $0 = { try await scratch.other.delete("large") } }
            let error = try await failure {
                try await scratch.write("large", Self.content(11), guard: .version(version))
            }
            if case .changed(nil) = error {} else { Issue.record("it was \(error)") }
            #expect(try await scratch.entry("large") == nil)
            let before = scratch.storage.steps
            meanwhile.withLock { $0 = nil }
            _ = try await scratch.write("large", Self.content(11))
            // The listing of the chunks, the move and the check.
            #expect(scratch.storage.steps - before == 3)
            #expect(try await scratch.other.content(at: "large") == Self.content(11))
        }
    }

    /// The process that sent the first chunks has died; only the chunks that changed since are sent.
    @Test func anUploadResumesAfterACrash() async throws {
        let abilities = try await Self.server.abilities()
        let name = "session-\(UInt64.random(in: 0 ... .max))"
        let other = try await Self.server.folder(name)
        defer { other.connection.close() }
        let place = try Self.server.place
        let state = try TemporaryFolder()
        let faults = StepFaults { (_, request) in
            request.words.first == "PUT" && request.words[1].hasSuffix("/3") ? .cutRequest : nil
        }
        let port = try Self.server.port
        let proxy = try HTTPFaultProxy(to: { port }, plan: { faults.fault(for: $0) })
        defer { proxy.close() }
        let path = place.drop { $0 != "/" }
        let address = try WebDAVAddress("127.0.0.1:\(proxy.port)\(path)/\(name)", isSecure: false)
        func run(_ body: (WebDAVScratch) async throws -> Void) async throws -> UInt64 {
            let storage = try await WebDAVStorage.open(
                address, WebDAVServer.login, memory: SavedAbilities(folder: state.path.string), abilities: abilities,
                chunks: Self.small)
            defer { storage.close() }
            let before = storage.steps
            try await body(WebDAVScratch(storage: storage, other: other))
            return storage.steps - before
        }
        var content = Self.content(7)
        faults.arm()
        _ = try await run { scratch in
            guard case .unreachable = try await failure({ try await scratch.write("large", content) }) else {
                throw BrokenPromise("it was another failure")
            }
        }
        faults.disarm()
        content[50_000] ^= 1
        let sent = try await run { scratch in try await scratch.write("large", content) }
        // The listing, the second, third and fourth chunk, the move and the check: not the first chunk.
        #expect(sent == 6)
        #expect(try await other.content(at: "large") == content)
    }
}
