import Foundation
import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import ReplicaModel

/// reimportItems(below:): statements 27 to 39 of CONFORMANCE.md.
@Suite struct ReimportTests {
    private static let mayAlreadyExist = CreateOptions.mayAlreadyExist.rawValue

    private func finished(_ bench: DomainBench) -> Int { bench.store.calls(of: .importDidFinish).count }

    /// Reimports and waits for the end of it.
    private func reimport(_ path: String, _ bench: DomainBench) async throws {
        let before = finished(bench)
        try await bench.domain.reimport(below: DomainBench.names(path))
        try await bench.until("the reimport's end") { finished(bench) > before }
        try await bench.settle()
    }

    /// A domain in sync, after its first import.
    private func withTree(_ body: (DomainBench) async throws -> Void) async throws {
        try await DomainBench.run { bench in
            try await bench.makeFolder("d")
            try await bench.write("one", to: "d/one")
            try await bench.makeFolder("d/e")
            try await bench.write("two", to: "d/e/two")
            try await bench.write("beside", to: "beside")
            try await bench.settle()
            try await bench.until("the first import's end") { finished(bench) == 1 }
            bench.store.clearCalls()
            try await body(bench)
        }
    }

    @Test func statement27_reimportCoversTheItemAndItsContent() async throws {
        try await withTree { bench in
            try await reimport("d", bench)
            let names = Set(bench.store.calls(of: .createItem).map { $0.template?.filename.description })
            #expect(names.isSuperset(of: ["d", "one", "e", "two"]))
            #expect(bench.store.entries.keys.sorted() == ["beside", "d", "d/e", "d/e/two", "d/one"])
        }
    }

    @Test func statement28_theFormerIdentifiersAreNoLongerValid() async throws {
        try await withTree { bench in
            let former = try #require(try await bench.item("d/one").identifier)
            bench.store.reassignIdentifiers()
            try await reimport("d", bench)
            #expect(try await bench.item("d/one").identifier != former)
            let isForgotten = bench.replica.withTree { $0.items[former] == nil }
            #expect(isForgotten)
        }
    }

    @Test func statement29_bytesSurviveTheLossOfAllIdentifiers() async throws {
        try await withTree { bench in
            bench.store.reassignIdentifiers()
            try await reimport("", bench)
            #expect(try await bench.read("d/e/two") == "two")
            #expect(try await bench.read("beside") == "beside")
            #expect(bench.store.calls(of: .fetchContents).isEmpty)
            for path in ["d", "d/one", "d/e", "d/e/two", "beside"] {
                #expect(try await bench.item(path).identifier == bench.store.item(at: path)?.identifier)
            }
            #expect(bench.store.entries.count == 5)
        }
    }

    @Test func statement30_eachIsACreateThatMayExistAlready() async throws {
        try await withTree { bench in
            try await reimport("", bench)
            let calls = bench.store.calls(of: .createItem)
            #expect(calls.count == 5)
            #expect(calls.allSatisfy { $0.options == Self.mayAlreadyExist })
        }
    }

    @Test func statement31_laterChangesUseTheNewIdentifier() async throws {
        try await withTree { bench in
            bench.store.reassignIdentifiers()
            try await reimport("d", bench)
            let fresh = bench.store.item(at: "d/one")?.identifier
            try await bench.rename("d/one", to: "d/renamed")
            try await bench.settle()
            let renames = bench.store.calls(of: .modifyItem).filter { $0.fields.contains(.filename) }
            #expect(renames.map(\.identifier) == [fresh])
            #expect(bench.store.text(at: "d/renamed") == "one")
        }
    }

    @Test func statement32_importDidFinishComesOnceAndLast() async throws {
        try await withTree { bench in
            try await reimport("", bench)
            let methods = bench.store.calls.map(\.method)
            let last = try #require(methods.lastIndex(of: .createItem))
            let end = try #require(methods.firstIndex(of: .importDidFinish))
            #expect(last < end)
            #expect(finished(bench) == 1)
        }
    }

    @Test func statement33_atLeastTheSubtreeIsReimported() async throws {
        try await withTree { bench in
            try await reimport("d/e", bench)
            let names = Set(bench.store.calls(of: .createItem).map { $0.template?.filename.description })
            #expect(names.isSuperset(of: ["e", "two"]))
        }
    }

    @Test func statement34_itemsNotOnDiskAreNoSuchItem() async throws {
        let store = MemoryStore()
        store.write("there", to: "cold/file")
        try await DomainBench.run(store: store) { bench in
            try await bench.settle()
            #expect(try await bench.item("cold").materialization == .dataless)
            for path in ["cold/file", "nothing"] {
                await #expect(throws: Errno.noSuchFileOrDirectory) {
                    try await bench.domain.reimport(below: DomainBench.names(path))
                }
            }
            #expect(store.calls(of: .createItem).isEmpty)
        }
    }

    @Test func statement35_anExpiredAnchorNeedsNoReimport() async throws {
        try await withTree { bench in
            bench.store.expireAnchors()
            try await bench.settle()
            #expect(bench.store.calls(of: .createItem).isEmpty)
            #expect(bench.store.calls(of: .fetchContents).isEmpty)
            #expect(try await bench.read("d/one") == "one")
        }
    }

    @Test func statement36_theLastAnchorIsAskedFromAfterARestart() async throws {
        try await withTree { bench in
            // The feed also contains what was uploaded.
            try await bench.settle()
            let anchor = try #require(bench.replica.anchor())
            try await bench.restart()
            #expect(bench.replica.anchor() == anchor)
            bench.store.write("meanwhile", to: "d/new")
            bench.store.clearCalls()
            try await bench.settle()
            // The change came by the feed: no folder was listed.
            #expect(bench.exists("d/new"))
            #expect(!bench.store.calls(of: .enumerateChanges).isEmpty)
            #expect(bench.store.calls(of: .enumerateItems).isEmpty)
        }
    }

    @Test func statement38_theAnswerDoesNotWaitForTheStore() async throws {
        try await withTree { bench in
            let gate = HeldCalls()
            bench.store.setHooks(before: { call throws(RemoteStoreError) in
                if call.method == .createItem { try await gate.pass() }
            })
            // Returns although no create can be answered.
            try await bench.domain.reimport(below: DomainBench.names("d"))
            #expect(finished(bench) == 0)
            gate.open()
            try await bench.until("the reimport's end") { finished(bench) == 1 }
        }
    }

    @Test func statement39_theFirstCreateIsTheItemItself() async throws {
        try await withTree { bench in
            try await reimport("d", bench)
            let calls = bench.store.calls(of: .createItem)
            #expect(calls.first?.template?.filename.description == "d")
            var made: Set<String> = [""]
            for call in calls {
                // Parents before children: the store has already returned the parent's identifier.
                let name = call.template?.filename.description ?? ""
                #expect(
                    ["d": true, "one": made.contains("d"), "e": made.contains("d"), "two": made.contains("e")][name]!)
                made.insert(name)
            }
        }
    }

    @Test func statement81_aDatalessFileIsReimportedWithoutContents() async throws {
        try await withTree { bench in
            #expect(try await bench.domain.evict(DomainBench.names("d/one"), isStrict: true).refused == [])
            try await reimport("d", bench)
            let call = try #require(
                bench.store.calls(of: .createItem).first { $0.template?.filename.description == "one" })
            #expect(call.options == Self.mayAlreadyExist)
            #expect(!call.hasContents)
            #expect(!call.fields.contains(.contents))
            #expect(try await bench.item("d/one").materialization == .dataless)
            #expect(try await bench.item("d/one").identifier == bench.store.item(at: "d/one")?.identifier)
            #expect(try await bench.read("d/one") == "one")
            #expect(bench.store.entries.count == 5)
        }
    }

    @Test func statement17_overlappingImportsEndOnce() async throws {
        let store = MemoryStore()
        let gate = HeldCalls()
        store.setHooks(before: { call throws(RemoteStoreError) in
            if call.method == .createItem { try await gate.pass() }
        })
        let importing: (String) throws -> Void = { try FileTree.make($0, ["a": "a", "d/b": "b"]) }
        try await DomainBench.run(store: store, importing: importing) { bench in
            try await bench.until("the first create") { !store.calls(of: .createItem).isEmpty }
            try await bench.domain.reimport(below: [])
            gate.open()
            try await bench.until("the end") { finished(bench) == 1 }
            try await bench.settle()
            #expect(finished(bench) == 1)
            #expect(store.text(at: "d/b") == "b")
            // A later reimport ends separately.
            try await reimport("", bench)
            #expect(finished(bench) == 2)
        }
    }

    /// The end is not reported while items are collected, while calls are in flight, or before the tree is compared.
    @Test func statement32_theEndWaitsForAllThatIsLeft() async throws {
        let bench = try Bench()
        try bench.write("one", to: "x")
        try await bench.settle()
        let ends = { bench.store.calls(of: .importDidFinish).count }
        let before = ends()
        try bench.engine.beginReimport(.root)
        await bench.engine.finishImport()
        #expect(ends() == before)
        bench.engine.markForReimport(.root)
        await bench.engine.finishImport()
        #expect(ends() == before)
        bench.engine.uploadQueue.withLock { $0.inFlight = 1 }
        let marked = bench.replica.withTree { tree in
            let marked = tree.pending.values.filter { $0.flags.contains(.importing) }
            for node in marked { node.flags.remove(.importing) }
            return marked.map(\.number)
        }
        await bench.engine.finishImport()
        #expect(ends() == before)
        bench.engine.uploadQueue.withLock { $0.inFlight = 0 }
        bench.replica.withTree { tree in for number in marked { tree.items[number]?.flags.insert(.importing) } }
        try await bench.settle()
        #expect(ends() == before + 1)
        await bench.engine.finishImport()
        #expect(ends() == before + 1)
    }

    /// The store's item is its base, not another item with the same name.
    @Test func anUnsentEditIsSentAsAnEdit() async throws {
        try await withTree { bench in
            let identifier = try await bench.item("d/one").identifier
            let isCut = Locked(true)
            bench.store.setHooks(before: { call throws(RemoteStoreError) in
                if call.method == .modifyItem, isCut.withLock({ $0 }) { throw .serverUnreachable }
            })
            try await bench.write("edited", to: "d/one")
            try await bench.domain.reimport(below: DomainBench.names("d"))
            try await bench.until("the edit offered as a new item") {
                bench.store.calls(of: .createItem).contains { $0.template?.filename.description == "one" }
            }
            isCut.withLock { $0 = false }
            try await bench.until("the reimport's end") { finished(bench) == 1 }
            try await bench.settle()
            #expect(bench.store.entries.keys.sorted() == ["beside", "d", "d/e", "d/e/two", "d/one"])
            #expect(bench.store.text(at: "d/one") == "edited")
            #expect(try await bench.read("d/one") == "edited")
            #expect(try await bench.item("d/one").identifier == identifier)
            #expect(!bench.exists("d/one 2"))
        }
    }

    /// Both sides edited it: neither edit is lost.
    @Test func anEditOfAFileThatChangedInTheStoreIsAConflict() async throws {
        try await withTree { bench in
            let isCut = Locked(true)
            bench.store.setHooks(before: { call throws(RemoteStoreError) in
                if isCut.withLock({ $0 }) { throw .serverUnreachable }
            })
            try await bench.write("edited", to: "d/one")
            bench.store.write("theirs", to: "d/one")
            try await bench.domain.reimport(below: DomainBench.names("d"))
            try await bench.until("the marks") {
                bench.replica.withTree { tree in tree.pending.values.contains { $0.name == FileName("two") } }
            }
            isCut.withLock { $0 = false }
            try await bench.until("the reimport's end") { finished(bench) == 1 }
            try await bench.settle()
            #expect(bench.store.text(at: "d/one") == "theirs")
            #expect(try await bench.read("d/one") == "theirs")
            let contents = Set(bench.store.entries.keys.compactMap { bench.store.text(at: $0) })
            #expect(contents.isSuperset(of: ["theirs", "edited"]))
            #expect(bench.store.entries.count == 6)
        }
    }

    @Test func aReimportSurvivesARestart() async throws {
        try await withTree { bench in
            let gate = HeldCalls()
            bench.store.setHooks(before: { call throws(RemoteStoreError) in
                if call.method == .createItem { try await gate.pass() }
            })
            try await bench.domain.reimport(below: [])
            try await bench.until("a create") { !bench.store.calls(of: .createItem).isEmpty }
            try await bench.restart()
            gate.open()
            try await bench.until("the end") { finished(bench) == 1 }
            try await bench.settle()
            #expect(bench.store.entries.count == 5)
            #expect(try await bench.read("d/e/two") == "two")
        }
    }
}
