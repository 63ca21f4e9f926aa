import ReplicaTestSupport
import Testing

@testable import ReplicaModel

/// Faults found by the simulator, each as a short sequence that reproduces it.
@Suite struct SimulatedTests {
    @Test func aPlaceholderRenamedOverAFileKeepsItsContent() async throws {
        let bench = try Bench()
        bench.store.write("one", to: "a")
        bench.store.write("two", to: "b")
        try await bench.settle()
        try bench.rename("b", to: "a")
        try await bench.settle()
        #expect(bench.store.text(at: "a") == "two")
        #expect(bench.store.item(at: "b") == nil)
    }

    @Test func exchangedPlaceholdersKeepTheirIdentityAfterACrash() async throws {
        let bench = try Bench()
        bench.store.write("theirs", to: "a")
        try await bench.settle()
        try bench.write("ours", to: "b")
        try await bench.settle()
        try bench.rename("a", to: "b", .exchange)
        try bench.crash()
        try await bench.settle()
        #expect(bench.store.text(at: "b") == "theirs")
        #expect(bench.store.text(at: "a") == "ours")
    }

    @Test func itemsMovedToUnlistedFoldersAreNotDeleted() async throws {
        let bench = try Bench()
        bench.store.makeFolder("d")
        bench.store.write("theirs", to: "f")
        try await bench.settle()
        bench.store.move("f", to: "d/f")
        try await bench.settle()
        #expect(try bench.tree()["f"] == nil)
        try bench.crash()
        try await bench.settle()
        #expect(bench.store.text(at: "d/f") == "theirs")
    }

    @Test func aRecordedEditIsSentAfterTwoCrashes() async throws {
        let bench = try Bench()
        try bench.makeFolder("a")
        try bench.replica.record()
        try bench.crash()
        try bench.crash()
        try await bench.settle()
        #expect(bench.store.item(at: "a") != nil)
    }

    @Test func aFolderRemovedBeforeACrashStaysRemoved() async throws {
        let bench = try Bench()
        try bench.makeFolder("a")
        try bench.write("one", to: "a/x")
        try await bench.settle()
        try bench.remove("a/x")
        try bench.remove("a", isFolder: true)
        try bench.crash()
        try await bench.settle()
        #expect(bench.store.entries.isEmpty)
        #expect(try bench.tree().isEmpty)
    }

    @Test func aFileAndAFolderExchangeTheirNamesInTheStore() async throws {
        let bench = try Bench()
        try bench.write("one", to: "a")
        try bench.makeFolder("d")
        try await bench.settle()
        try bench.rename("a", to: "d", .exchange)
        try await bench.settle()
        #expect(bench.store.text(at: "d") == "one")
        #expect(bench.store.item(at: "a")?.kind == .folder)
    }

    @Test func aSymlinkRenamedOverAnotherKeepsItsTarget() async throws {
        let bench = try Bench()
        bench.store.makeSymlink("a", to: "first")
        bench.store.makeSymlink("b", to: "second")
        try await bench.settle()
        try bench.rename("b", to: "a")
        try await bench.settle()
        #expect(bench.store.item(at: "a")?.target == Array("second".utf8))
        #expect(bench.store.item(at: "b") == nil)
    }
}
