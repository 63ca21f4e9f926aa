import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import ReplicaModel

/// The effects of a store's declared properties.
@Suite struct StorePropertyTests {
    @Test func aSymlinkThatTheStoreCannotKeepStaysLocal() async throws {
        let store = MemoryStore()
        store.properties.keepsSymlinks = false
        let bench = try Bench(store: store)
        try bench.write("text", to: "file")
        _ = try bench.replica.makeSymlink(
            FileName("link"), in: .root, target: Array("file".utf8), caller: Bench.caller)
        try await bench.settle()
        #expect(store.entries.keys.sorted() == ["file"])
        #expect(store.calls(of: .createItem).map(\.template?.filename) == [FileName("file")])
        let report = try bench.domain.report()
        #expect(report.pending == 0 && report.errors == 0 && report.localOnly == 1)
        #expect(try await bench.report("link").kind == .symlink)
        try bench.remove("link")
        try await bench.settle()
        #expect(try bench.domain.report().localOnly == 0)
    }

    @Test func aNameThatTheStoreCannotTakeIsNotSent() async throws {
        let store = MemoryStore()
        store.properties.longestName = 100
        let bench = try Bench(store: store)
        let (long, fine) = (String(repeating: "n", count: 101), String(repeating: "n", count: 100))
        try bench.write("text", to: long)
        try bench.write("text", to: fine)
        try await bench.send()
        #expect(store.calls(of: .createItem).map(\.template?.filename) == [FileName(fine)])
        let error = try #require(try await bench.report(long).error)
        #expect(error.code == "cannotSynchronize")
        #expect(error.message == "the store accepts names of at most 100 bytes")
    }

    /// A create whose answer is lost is repeated in a store that can't look up templates: it creates no second item.
    @Test func earlierCreatesAreAdoptedWithoutRecognition() async throws {
        let store = MemoryStore()
        store.properties.recognizesCreates = false
        let bench = try Bench(store: store)
        store.setHooks(after: { (call) async throws(RemoteStoreError) in
            if call.method == .createItem { throw .serverUnreachable }
        })
        try bench.write("one", to: "x")
        try await bench.send()
        #expect(store.text(at: "x") == "one")
        store.setHooks()
        try bench.crash()
        try await bench.settle()
        #expect(store.entries.keys.sorted() == ["x"])
        #expect(try bench.tree() == ["x": "one"])
    }

    /// A store that was unreachable may have other properties when it is reached.
    @Test func propertiesOfTheReachedStoreApply() async throws {
        let store = MemoryStore()
        let bench = try Bench(store: store)
        try await bench.settle()
        store.properties.isCaseSensitive = false
        store.properties.longestName = 100
        bench.engine.askNow()
        try await bench.settle()
        #expect(bench.replica.withTree { $0.store.isCaseSensitive } == false)
        let long = FileName(String(repeating: "n", count: 200))
        #expect(
            bench.replica.withTree { $0.store.names.conflicts.free(besides: long) { _ in false } }.bytes.count == 100)
    }

    /// The new name of a renamed item immediately differs from all others in the store.
    @Test func aBouncedNameDiffersInMoreThanCase() async throws {
        let store = MemoryStore()
        store.properties.isCaseSensitive = false
        let bench = try Bench(store: store)
        try bench.write("one", to: "x")
        try bench.write("two", to: "x 2")
        try await bench.settle()
        let before = store.calls(of: .createItem).count
        try bench.write("three", to: "X")
        try await bench.settle()
        #expect(store.text(at: "X 3") == "three")
        #expect(try bench.tree() == ["x": "one", "x 2": "two", "X 3": "three"])
        // One that collides, and one that does not.
        #expect(store.calls(of: .createItem).count == before + 2)
    }

    /// An item without a mode in the store gets an ordinary one.
    @Test func itemsWithoutAModeGetTheDefault() async throws {
        let bench = try Bench()
        bench.store.write("theirs", to: "d/f")
        for path in ["d", "d/f"] { bench.store.update(path) { $0.mode = nil } }
        try await bench.settle()
        #expect(try await bench.read("d/f") == "theirs")
        #expect(try bench.status("d").st_mode & 0o777 == 0o755)
        #expect(try bench.status("d/f").st_mode & 0o777 == 0o644)
    }

    /// New content of a file keeps the local mode and attributes if the store does not keep them.
    @Test func newContentKeepsLocalAttributes() async throws {
        let store = MemoryStore()
        store.properties.fields.subtract([.mode, .extendedAttributes, .modificationDate])
        let bench = try Bench(store: store)
        try bench.write("ours", to: "f")
        try bench.setXattr("user.own", "value", of: "f")
        try bench.setAttributes(of: "f") { $0.mode = 0o600 }
        try await bench.settle()
        store.write("theirs", to: "f")
        store.update("f") { ($0.mode, $0.extendedAttributes) = (nil, nil) }
        try await bench.settle()
        #expect(try await bench.read("f") == "theirs")
        #expect(try bench.status("f").st_mode & 0o777 == 0o600)
        let value = try bench.replica.xattr("user.own", of: try bench.number("f"))
        #expect(String(decoding: value, as: UTF8.self) == "value")
    }
}
