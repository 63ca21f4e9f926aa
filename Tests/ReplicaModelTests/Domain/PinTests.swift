import Foundation
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import ReplicaModel

/// pin and unpin (MODEL.md#eviction, MODEL.md#eviction).
@Suite struct PinTests {
    private func isHere(_ path: String, _ bench: DomainBench) async throws -> Bool {
        guard bench.exists(path) else { return false }
        return try await bench.item(path).materialization == .whole
    }

    private func untilHere(_ path: String, _ bench: DomainBench) async throws {
        try await bench.until("\(path) is here") { try await isHere(path, bench) }
    }

    /// It is recorded when the call returns.
    @Test func aPinSurvivesACrash() async throws {
        let bench = try Bench()
        bench.store.write("one", to: "x")
        try await bench.settle()
        try bench.replica.setPin(true, of: try bench.number("x"))
        try bench.crash()
        let number = try bench.number("x")
        #expect(bench.replica.withTree { tree in tree.items[number].map(tree.isPinned) } == true)
        #expect(await bench.engine.fetchPinned())
        #expect(try bench.tree() == ["x": "one"])
        try bench.replica.setPin(false, of: number)
        try bench.crash()
        #expect(bench.replica.withTree { tree in tree.items[number].map(tree.isPinned) } != true)
    }

    @Test func aPinnedFolderIsFetchedCompletely() async throws {
        let store = MemoryStore()
        store.write("one", to: "d/one")
        store.write("two", to: "d/e/two")
        try await DomainBench.run(store: store) { bench in
            try await bench.settle()
            try await bench.domain.pin(DomainBench.names("d"))
            #expect(try await bench.item("d").isPinned)
            try await untilHere("d/one", bench)
            try await untilHere("d/e/two", bench)
        }
    }

    @Test func waitingFetchesAllPinnedItems() async throws {
        let store = MemoryStore()
        for (name, text) in [("d/one", "1"), ("d/e/two", "22"), ("d/not/three", "333"), ("d/fails", "4444")] {
            store.write(text, to: name)
        }
        try await DomainBench.run(store: store) { bench in
            try await bench.settle()
            try await bench.domain.download(DomainBench.names("d"), waits: true)
            // Nothing is fetched before an exception exists.
            try bench.domain.disconnect(reason: "test")
            try await bench.domain.pin(DomainBench.names("d"))
            try await bench.domain.unpin(DomainBench.names("d/not"))
            try bench.domain.connect()
            let refused = try await bench.item("d/fails").identifier
            store.setHooks(before: { call throws(RemoteStoreError) in
                if call.method == .fetchContents, call.identifier == refused { throw .cannotSynchronize("test") }
            })
            let work = RequestProgress()
            let done = try await bench.domain.pinAndDownload(DomainBench.names("d"), work: work)
            #expect(try await bench.item("d").isPinned)
            #expect(done.failed.map { DomainBench.text($0.path) } == ["d/fails"])
            for name in ["d/one", "d/e/two"] { #expect(try await isHere(name, bench)) }
            #expect(try await bench.item("d/not").materialization == .dataless)
            #expect(work.counts.items == 5 && work.counts.itemsTotal == 5 && !work.counts.isCounting)
        }
    }

    @Test func newItemsInAPinnedFolderAreFetched() async throws {
        let store = MemoryStore()
        store.makeFolder("d")
        store.write("elsewhere", to: "x/moved")
        try await DomainBench.run(store: store) { bench in
            try await bench.settle()
            try await bench.domain.pin(DomainBench.names("d"))
            try await untilHere("d", bench)
            store.write("new", to: "d/new")
            try await untilHere("d/new", bench)
            // A remote change of a pinned item is fetched too.
            store.write("newer", to: "d/new")
            try await bench.until("the newer content is here") {
                try String(contentsOfFile: bench.backing("d/new"), encoding: .utf8) == "newer"
            }
            // Items that the user moves there, including folders.
            #expect(try await bench.item("x/moved").materialization == .dataless)
            try await bench.rename("x", to: "d/x")
            try await untilHere("d/x/moved", bench)
        }
    }

    @Test func pinsSurviveARestart() async throws {
        let store = MemoryStore()
        store.makeFolder("d")
        try await DomainBench.run(store: store) { bench in
            try await bench.settle()
            try await bench.domain.pin(DomainBench.names("d"))
            try await bench.restart()
            store.write("new", to: "d/new")
            try await untilHere("d/new", bench)
        }
    }

    @Test func unpinningTakesEffectImmediately() async throws {
        let store = MemoryStore()
        store.write("one", to: "d/one")
        store.write("two", to: "d/two")
        try await DomainBench.run(store: store) { bench in
            try await bench.settle()
            try await bench.domain.pin(DomainBench.names("d"))
            try await untilHere("d/one", bench)
            try await untilHere("d/two", bench)
            let one = DomainBench.names("d/one")
            #expect(try await bench.domain.evict(one, isStrict: true).refused.map(\.reason) == [.pinned])
            try await bench.domain.unpin(one)
            #expect(try await bench.domain.evict(one, isStrict: true).items == 1)
            #expect(try await bench.item("d/two").isPinned)
            try await bench.domain.unpin(DomainBench.names("d"))
            #expect(try await !bench.item("d/two").isPinned)
        }
    }

    @Test func failedFetchesAreRetried() async throws {
        let store = MemoryStore()
        store.write("one", to: "one")
        try await DomainBench.run(store: store) { bench in
            try await bench.settle()
            store.setHooks(before: { call throws(RemoteStoreError) in
                if call.method == .fetchContents { throw .serverUnreachable }
            })
            try await bench.domain.pin(DomainBench.names("one"))
            try await bench.until("a try") { !store.calls(of: .fetchContents).isEmpty }
            store.setHooks()
            try await untilHere("one", bench)
        }
    }
}
