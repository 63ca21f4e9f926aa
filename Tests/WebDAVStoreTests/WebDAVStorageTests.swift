import Foundation
import Glibc
import HTTPClient
import HTTPStorage
import PathStore
import ReplicaModel
import ReplicaTestSupport
import Testing
import Threads

@testable import WebDAVStore

/// The calls on real servers.
@Suite struct WebDAVStorageTests {
    /// As measured with these versions; a changed server shows here.
    @Test func theServersFeaturesAreDetected() async throws {
        var lighttpd = ServerAbilities(
            createsConditionally: true, replacesConditionally: true, removesConditionally: true,
            movesConditionally: true, keepsTargets: true, makesExclusively: true, createsInOneStep: true,
            replacesInOneStep: true, movesInOneStep: true, writesWhole: true, hasTags: true, answersTags: true,
            isExact: true, keepsProperties: true, fetchesRanges: true)
        try await expect(.lighttpd, lighttpd)
        #expect(lighttpd.properties.createStrength == .atomic && lighttpd.properties.replaceStrength == .atomic)
        #expect(lighttpd.properties.moveStrength == .atomic && lighttpd.properties.removeStrength == .checked)
        lighttpd.hasTags = false
        #expect(lighttpd.properties.changeGrain == 2_000_000_000)
        let nginx = ServerAbilities(
            keepsTargets: true, makesExclusively: true, makesParents: true, takesControls: true, movesInOneStep: true,
            writesWhole: true, fetchesRanges: true)
        try await expect(.nginx, nginx)
        #expect(nginx.creation == .moved && nginx.properties.replaceStrength == .checked)
        // It leaves half a file of a write that is cut, and tests no condition.
        let rclone = ServerAbilities(
            keepsTargets: true, takesControls: true, movesInOneStep: true, hasTags: true, answersTags: true,
            isExact: true, fetchesRanges: true)
        try await expect(.rclone, rclone)
        #expect(rclone.creation == .moved && !rclone.writesWhole && rclone.properties.createStrength == .atomic)
    }

    private func expect(_ server: WebDAVServer, _ abilities: ServerAbilities) async throws {
        try await WebDAVScratch.run(server) { scratch in
            var found = scratch.storage.abilities
            // Two writes within a second need a machine that has time for it.
            if !found.isExact { found.isExact = abilities.isExact }
            #expect(found == abilities, "\(server)")
            let left = try await scratch.other.children()
            #expect(left == [])
        }
    }

    /// rclone leaves half a file of an upload that is cut, but a busy server may read the request only after the
    /// connection ended. Here the proxy before it passes it on late.
    @Test func aCutUploadThatTheServerReadsLateIsNotWhole() async throws {
        let folder = try await WebDAVServer.rclone.folder()
        defer { folder.connection.close() }
        let server = try WebDAVServer.rclone.port
        let proxy = try CuttingProxy(to: { server }, limit: { _ in nil }, pace: { 40_000 })
        defer { proxy.close() }
        let path = folder.connection.address.path.map(\.description).joined(separator: "/")
        let address = try WebDAVAddress("127.0.0.1:\(proxy.port)/\(path)", isSecure: false)
        let storage = try await WebDAVStorage.open(address, WebDAVServer.login, timeLimit: .seconds(60))
        defer { storage.close() }
        #expect(!storage.abilities.writesWhole && storage.abilities.fetchesRanges)
    }

    /// Apache lets several win, and marks fresh ETags as weak.
    @Test func nonatomicPreconditionsAreDeclaredAsChecked() async throws {
        try await WebDAVScratch.run(.apache) { scratch in
            let abilities = scratch.storage.abilities
            #expect(abilities.createsConditionally && abilities.replacesConditionally && abilities.writesWhole)
            // Whether it is exact needs a machine that writes twice within a second.
            #expect(abilities.hasTags && abilities.keepsProperties)
            #expect(scratch.storage.properties.replaceStrength == .checked)
        }
    }

    @Test(arguments: WebDAVServer.allPlain) func contentsOfAnySizeAreReadAsWritten(_ server: WebDAVServer) async throws
    {
        try await WebDAVScratch.run(server) { scratch in
            for size in [0, 1, 100_000, 3 << 20 | 1] {
                let content = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 9) }
                let entry = try await scratch.write("file \(size) +ü%", content)
                #expect(entry.size == Int64(size))
                #expect(try await scratch.read("file \(size) +ü%", version: entry.version) == content)
                #expect(try await scratch.other.content(at: "file \(size) +ü%") == content)
                try await scratch.checkRanges(of: "file \(size) +ü%", version: entry.version, content)
                let replaced = try await scratch.write(
                    "file \(size) +ü%", content + [9], guard: .version(try #require(entry.version)))
                #expect(try await scratch.read("file \(size) +ü%", version: replaced.version) == content + [9])
            }
        }
    }

    @Test(arguments: WebDAVServer.allPlain) func aMoveReplacesNothing(_ server: WebDAVServer) async throws {
        try await WebDAVScratch.run(server) { scratch in
            for name in ["folder", "other"] { try await scratch.folder(name) }
            for path in ["folder/in", "other/in", "file"] { try await scratch.write(path, path) }
            for (path, target) in [("folder", "file"), ("folder", "other"), ("file", "folder")] {
                let version = path == "file" ? try await scratch.entry(path)?.version : nil
                let error = try await failure {
                    _ = try await scratch.storage.move(scratch.path(path), to: scratch.path(target), version: version)
                }
                guard case .taken = error else { throw BrokenPromise("\(path) to \(target): \(error)") }
            }
            #expect(try await scratch.list().keys.sorted() == ["file", "folder", "other"])
            for path in ["folder/in", "other/in", "file"] { #expect(try await scratch.theirs(path) == path) }
        }
    }

    @Test(arguments: WebDAVServer.allPlain) func preconditionsAreChecked(_ server: WebDAVServer) async throws {
        try await WebDAVScratch.run(server) { scratch in
            let old = try #require(try await scratch.write("file", "ours").version)
            try await scratch.put("file", "theirs!")
            // Its content can no longer change under this version.
            var now: PathEntry?
            repeat { now = try await scratch.entry("file") } while now?.isSettled != true
            let path = scratch.path("file")
            #expect(try await failure { try await scratch.write("file", "x") } == .taken(now))
            #expect(try await failure { try await scratch.write("file", "x", guard: .version(old)) } == .changed(now))
            #expect(try await failure { _ = try await scratch.read("file", version: old) } == .changed(now))
            #expect(try await failure { try await scratch.storage.remove(path, version: old) } == .changed(now))
            let moved = try await failure {
                _ = try await scratch.storage.move(path, to: scratch.path("x"), version: old)
            }
            #expect(moved == .changed(now))
            try await scratch.put("other", "theirs")
            let taken = try await failure {
                _ = try await scratch.storage.move(path, to: scratch.path("other"), version: now?.version)
            }
            guard case .taken(let other) = taken else {
                Issue.record("\(taken)")
                return
            }
            #expect(other?.size == 6)
            #expect(try await scratch.makeFails("file", .folder) == .taken(now))
            #expect(try await scratch.theirs("file") == "theirs!")
            #expect(try await scratch.other.children() == ["file", "other"])
        }
    }

    /// Twelve concurrent creates: if the server decides, one wins; nothing is left of the others.
    @Test(arguments: [WebDAVServer.lighttpd, .nginx]) func oneOfConcurrentCreatesWins(_ server: WebDAVServer)
        async throws
    {
        try await WebDAVScratch.run(server) { scratch in
            #expect(scratch.storage.properties.createStrength == .atomic)
            for round in 0..<3 {
                let won = await withTaskGroup(of: Bool.self) { group in
                    for number in 0..<12 {
                        group.addTask { (try? await scratch.write("file \(round)", "\(number)")) != nil }
                    }
                    return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                }
                #expect(won == 1)
            }
            let left = try await scratch.other.children()
            #expect(left == ["file 0", "file 1", "file 2"])
        }
    }

    /// A folder with entries is not removed.
    @Test(arguments: WebDAVServer.allPlain) func onlyEmptyFoldersAreRemoved(_ server: WebDAVServer) async throws {
        try await WebDAVScratch.run(server) { scratch in
            try await scratch.folder("folder")
            try await scratch.put("folder/file", "text")
            let path = scratch.path("folder")
            #expect(try await failure { try await scratch.storage.remove(path, version: nil) } == .notEmpty)
            let moved = try await scratch.storage.move(path, to: scratch.path("moved"), version: nil)
            #expect(moved.kind == .folder)
            #expect(try await scratch.theirs("moved/file") == "text")
            try await scratch.other.delete("moved/file")
            try await scratch.storage.remove(scratch.path("moved"), version: nil)
            #expect(try await scratch.other.children() == [])
            // Again: removing a missing file succeeds.
            try await scratch.storage.remove(scratch.path("moved"), version: nil)
        }
    }

    /// Modes and dates are our own properties; a date belongs to one content.
    @Test(arguments: [WebDAVServer.lighttpd, .apache, .sabre])
    func attributesAreKept(_ server: WebDAVServer) async throws {
        try await WebDAVScratch.run(server) { scratch in
            let date = Timestamp(seconds: 1_500_000_000, nanoseconds: 5)
            let made = try await scratch.write("file", "text", PathAttributes(mode: 0o4750, modificationDate: date))
            #expect(made.attributes == PathAttributes(mode: 0o4750, modificationDate: date))
            #expect(try await scratch.list()["file"]?.attributes == made.attributes)
            let moved = try await scratch.storage.move(
                scratch.path("file"), to: scratch.path("moved"), version: made.version)
            #expect(moved.attributes == made.attributes)
            let later = Timestamp(seconds: -1, nanoseconds: 1)
            let set = try await scratch.storage.set(
                PathAttributes(modificationDate: later), of: scratch.path("moved"))
            #expect(
                set.attributes == PathAttributes(mode: 0o4750, modificationDate: later) && set.version == moved.version)
            try await scratch.put("moved", "theirs")
            let theirs = try #require(try await scratch.entry("moved"))
            #expect(theirs.attributes.mode == 0o4750)
            #expect((theirs.attributes.modificationDate?.seconds ?? 0) > 1_600_000_000)
            try await scratch.folder("folder", mode: 0o750)
            #expect(try await scratch.entry("folder")?.attributes.mode == 0o750)
        }
    }

    @Test func temporaryFilesAreHiddenAndExpire() async throws {
        try await WebDAVScratch.run(.lighttpd) { scratch in
            let prefix = WebDAVStorage.temporaryPrefix
            try await scratch.put("\(prefix)old")
            try await scratch.put("\(prefix)new")
            let data = try WebDAVServer.lighttpd.data
            let folder = try #require(scratch.other.connection.address.path.last)
            var times = [timeval(tv_sec: 1_000_000, tv_usec: 0), timeval(tv_sec: 1_000_000, tv_usec: 0)]
            #expect(utimes("\(data)/\(folder)/\(prefix)old", &times) == 0)
            #expect(try await scratch.list().isEmpty)
            #expect(try await scratch.other.children() == ["\(prefix)new"])
            guard case .refused = try await failure({ try await scratch.write("\(prefix)x", "x") }) else {
                Issue.record("a name of the store's own was taken")
                return
            }
        }
    }

    @Test(arguments: [WebDAVServer.lighttpd, .apache, .nginx, .rclone])
    func anUploadThatEndsEarlyLeavesNothing(_ server: WebDAVServer) async throws {
        try await WebDAVScratch.run(server) { scratch in
            let outcome = try await ItemContents.with([1, 2, 3]) { contents async throws(RemoteStoreError) in
                do throws(PathStorageError) {
                    return Result<PathEntry, PathStorageError>.success(
                        try await scratch.storage.write(
                            scratch.path("file"), contents: ItemContents(file: contents.file, size: 9),
                            attributes: PathAttributes(), guard: .absent))
                } catch {
                    return .failure(error)
                }
            }
            #expect(outcome == .failure(.refused("the content is shorter than declared")))
            // The server may notice later that the upload has ended; each change looks for what is left.
            #expect(
                try await eventually {
                    try await scratch.storage.remove(scratch.path("none"), version: nil)
                    return try await scratch.other.children() == []
                })
        }
    }

    /// Another client's file of the same size, right after ours: the answer to ours names its ETag.
    @Test(arguments: [WebDAVServer.lighttpd, .sabre])
    func aWriteByOthersIsNotTakenForAnUpload(_ server: WebDAVServer) async throws {
        let (known, data) = (try await server.abilities(), try server.data)
        #expect(known.answersTags)
        let step = Locked(0)
        let session = try await WebDAVFaultedSession(server, known) { (_, request) in
            let (method, path) = (request.words.first ?? "", request.words.dropFirst().first ?? "")
            guard path.hasSuffix("/file") else { return nil }
            let isNow = step.withLock { step in
                if method == "PUT" { step = max(step, 1) }
                if method == "PROPFIND", step > 0 { step += 1 }
                return step == 2
            }
            // A disk that takes no more fails the test below.
            let place = path.split(separator: "/").suffix(2).joined(separator: "/")
            if isNow { try? Data("theirs".utf8).write(to: URL(filePath: "\(data)/\(place)")) }
            return nil
        }
        try await session.run { store in
            let template = ItemTemplate(
                identifier: ItemIdentifier("template of file"), parent: .root, filename: FileName("file"), kind: .file)
            let error = try await session.armed {
                try await ItemContents.with(Array("ours..".utf8)) { contents async throws(RemoteStoreError) in
                    do throws(RemoteStoreError) {
                        _ = try await store.createItem(
                            basedOn: template, fields: [.place, .contents], contents: contents, options: [])
                        return RemoteStoreError?.none
                    } catch {
                        return error
                    }
                }
            }
            #expect(error == .serverUnreachable && step.withLock { $0 } > 1)
            #expect(try session.files() == ["file": Array("theirs".utf8)])
        }
    }

    @Test func aClosedStorageFailsCalls() async throws {
        try await WebDAVScratch.run(.lighttpd) { scratch in
            scratch.storage.close()
            let error = try await failure { _ = try await scratch.entry("file") }
            #expect(error == .cancelled)
        }
    }
}
