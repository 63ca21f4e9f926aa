import Foundation
import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import ReplicaModel

/// Seed D: the effects of a store's answer to createItem.
@Suite struct AnswerStatementTests {
    @Test func statement73_aCrashReplaysTheSameTemplate() async throws {
        let bench = try Bench()
        let barrier = Barrier()
        // The store has the item, and its answer is on the way when the daemon dies.
        bench.store.setHooks(after: { (call) async throws(RemoteStoreError) in
            if call.method == .createItem { try await barrier.pass() }
        })
        try bench.write("one", to: "x")
        bench.pass(2)
        let engine = bench.engine
        let sending = Task { await engine.send() }
        try await bench.until("the commit") { bench.store.item(at: "x") != nil }
        try bench.crash()
        bench.store.setHooks()
        try await bench.settle()
        #expect(bench.store.entries.keys.sorted() == ["x"])
        let asked = bench.store.calls.filter { [.createItem, .itemCreated].contains($0.method) }
        #expect(asked.map(\.method) == [.createItem, .itemCreated])
        #expect(Set(asked.compactMap(\.template?.identifier)).count == 1)
        #expect(try await bench.report("x").identifier == bench.store.item(at: "x")?.identifier)
        barrier.lift()
        _ = await sending.value
    }

    @Test func statement73_aCallThatNeverArrivedIsMadeAgain() async throws {
        let bench = try Bench()
        bench.store.fail(.createItem, with: .serverUnreachable)
        try bench.write("one", to: "x")
        try await bench.send()
        try bench.crash()
        try await bench.settle()
        let asked = bench.store.calls.filter { [.createItem, .itemCreated].contains($0.method) }
        #expect(asked.map(\.method) == [.createItem, .itemCreated, .createItem])
        #expect(Set(asked.compactMap(\.template?.identifier)).count == 1)
        #expect(bench.store.text(at: "x") == "one")
    }

    @Test func statement74_theStoresOwnResultWins() async throws {
        let script = ScriptedStore()
        script.onCreate { (call) async throws(RemoteStoreError) in
            var call = call
            call.template.filename = FileName("a_b")
            return try await call.execute()
        }
        let bench = try Bench(script)
        try bench.write("one", to: "a:b")
        let number = try bench.number("a:b")
        try await bench.settle()
        #expect(try bench.tree() == ["a_b": "one"])
        #expect(try bench.number("a_b") == number)
        #expect(bench.store.entries.keys.sorted() == ["a_b"])
        #expect(bench.store.calls(of: .createItem).count == 1)
        #expect(bench.store.calls(of: .modifyItem).isEmpty)
    }

    /// A store may adopt the template's identifier: the identifier in the answer counts.
    @Test func statement75_theStoresAnswerIsTheIdentifier() async throws {
        let script = ScriptedStore()
        let echoed = Locked<ItemIdentifier?>(nil)
        let modified = Locked<ItemIdentifier?>(nil)
        script.onCreate { (call) async throws(RemoteStoreError) in
            echoed.withLock { $0 = call.template.identifier }
            return StoreResult(
                item: Item(
                    identifier: call.template.identifier, parent: .root, filename: call.template.filename, kind: .file,
                    version: ItemVersion(content: "1", metadata: "1"), size: 3))
        }
        script.onModify { (call) async throws(RemoteStoreError) in
            modified.withLock { $0 = call.template.identifier }
            return StoreResult(
                item: Item(
                    identifier: call.template.identifier, parent: .root, filename: call.template.filename, kind: .file,
                    version: ItemVersion(content: "2", metadata: "1"), size: 3))
        }
        let bench = try Bench(script)
        try await bench.settle()
        try bench.write("one", to: "x")
        try await bench.settle()
        #expect(try await bench.report("x").identifier == echoed.withLock { $0 })
        try bench.write("two", to: "x")
        try await bench.settle()
        #expect(modified.withLock { $0 } == echoed.withLock { $0 })
    }

    @Test func statement76_aKnownIdentifierReplacesTheOldCopy() async throws {
        let script = ScriptedStore()
        let bench = try Bench(script)
        try bench.write("old", to: "x")
        try await bench.settle()
        script.onCreate { (call) async throws(RemoteStoreError) in
            call.memory.move("x", to: "y")
            return StoreResult(item: call.memory.write(try call.contents?.allBytes() ?? [], to: "y"))
        }
        try bench.write("new", to: "y")
        try await bench.settle()
        #expect(try bench.tree() == ["y": "new"])
        #expect(bench.store.entries.keys.sorted() == ["y"])
        #expect(try await bench.report("y").identifier == bench.store.item(at: "y")?.identifier)
    }

    @Test func statement76_editsOfTheOldCopyAreNotLost() async throws {
        let script = ScriptedStore()
        let bench = try Bench(script)
        try bench.write("old", to: "x")
        try await bench.settle()
        let (replica, number) = (bench.replica, try bench.number("x"))
        script.onCreate { (call) async throws(RemoteStoreError) in
            replica.overwrite(number, with: "edited")
            call.memory.move("x", to: "y")
            return StoreResult(item: call.memory.write(try call.contents?.allBytes() ?? [], to: "y"))
        }
        try bench.write("new", to: "y")
        try await bench.settle()
        #expect(try bench.tree() == ["x": "edited", "y": "new"])
        #expect(bench.store.text(at: "x") == "edited")
        #expect(bench.store.text(at: "y") == "new")
    }

    @Test func statement76_aKnownFolderIsMerged() async throws {
        let script = ScriptedStore()
        let bench = try Bench(script)
        try bench.makeFolder("d")
        try bench.write("old", to: "d/x")
        try await bench.settle()
        script.onCreate { (call) async throws(RemoteStoreError) in
            StoreResult(item: call.memory.move("d", to: "e"))
        }
        try bench.makeFolder("e")
        try bench.write("new", to: "e/y")
        try await bench.settle()
        #expect(bench.store.text(at: "e/x") == "old")
        #expect(bench.store.text(at: "e/y") == "new")
        #expect(try await bench.read("e/x") == "old")
        #expect(try await bench.read("e/y") == "new")
        #expect(try bench.tree()["d/x"] == nil)
    }

    @Test func statement80_anotherKindIsRefused() async throws {
        let script = ScriptedStore()
        script.onCreate { (call) async throws(RemoteStoreError) in
            var result = try await call.execute()
            result.item?.kind = .file
            return result
        }
        let bench = try Bench(script)
        try bench.makeSymlink("l", to: "target")
        try await bench.send()
        #expect(try await bench.report("l").error?.code == "cannotSynchronize")
        #expect(try bench.tree() == ["l": "target"])
    }

    @Test func statement82_anUnmatchedItemIsRemovedAndPreserved() async throws {
        let script = ScriptedStore()
        script.onCreate { (_) async throws(RemoteStoreError) in StoreResult(item: nil) }
        let bench = try Bench(script)
        try bench.write("unwanted", to: "x")
        let number = try bench.number("x")
        try await bench.settle()
        #expect(try bench.tree().isEmpty)
        #expect(try bench.kept() == ["\(number.rawValue) x"])
        let text = try String(contentsOfFile: bench.folders.kept.string + "/\(number.rawValue) x", encoding: .utf8)
        #expect(text == "unwanted")
        // If the store does have an item of this name, it appears.
        bench.store.write("theirs", to: "x")
        try await bench.settle()
        #expect(try await bench.read("x") == "theirs")
    }

    /// A bench that has sent `d/x` to a folder that the store no longer has.
    private func benchWithAMissingParent() async throws -> Bench {
        let bench = try Bench()
        try bench.makeFolder("d")
        try await bench.settle()
        bench.store.delete("d")
        bench.store.clearCalls()
        try bench.write("one", to: "d/x")
        try await bench.send()
        return bench
    }

    @Test func statement83_aMissingParentIsNoSuchItem() async throws {
        let bench = try await benchWithAMissingParent()
        // The store reports that the parent is gone; the file stays and is not parked.
        let first = try #require(bench.store.calls(of: .createItem).first)
        #expect(first.template?.filename == FileName("x"))
        #expect(try bench.tree() == ["d/": nil, "d/x": "one"])
        #expect(try await bench.report("d/x").error?.code == "noSuchItem")
        #expect(try await bench.report("d/x").error?.retryAt != nil)
    }

    /// There is no folder to create again.
    @Test func statement83_aStoreWithoutItsRootIsReported() async throws {
        let script = ScriptedStore()
        script.onCreate { (_) async throws(RemoteStoreError) in throw .noSuchItem(.root) }
        let bench = try Bench(script)
        try bench.write("one", to: "x")
        try await bench.send()
        #expect(try await bench.report("x").error?.message == "the store does not have the root folder")
        try await bench.send(after: 59)
        #expect(bench.store.calls(of: .createItem).isEmpty)
        try await bench.send(after: 2)
        #expect(bench.store.text(at: "x") == "one")
    }

    /// Nothing more is sent about a folder that is gone on both sides.
    @Test func statement84_aFolderGoneOnBothSidesIsNotRecreated() async throws {
        let bench = try Bench()
        try bench.makeFolder("d")
        try await bench.settle()
        bench.store.delete("d")
        bench.store.clearCalls()
        try bench.write("one", to: "d/x")
        let isFirst = Locked(true)
        let replica = bench.replica
        let (root, folder) = (ItemNumber.root, try bench.number("d"))
        bench.store.setHooks(before: { call throws(RemoteStoreError) in
            guard call.method == .createItem, isFirst.withLock({ $0 }) else { return }
            isFirst.withLock { $0 = false }
            do throws(ReplicaError) {
                _ = try replica.rename(FileName("x"), in: folder, to: FileName("x"), in: root, flags: [])
                try replica.remove(FileName("d"), in: root, isFolder: true)
            } catch {
                Issue.record("it cannot be moved: \(error)")
            }
        })
        try await bench.send()
        try await bench.send()
        try await bench.settle()
        #expect(bench.store.entries.keys.sorted() == ["x"])
        #expect(bench.store.text(at: "x") == "one")
        #expect(bench.store.calls(of: .deleteItem).isEmpty)
    }

    @Test func statement84_theParentIsRecreatedThenTheItem() async throws {
        let bench = try await benchWithAMissingParent()
        try await bench.settle()
        let names = bench.store.calls(of: .createItem).compactMap(\.template?.filename.description)
        #expect(names == ["x", "d", "x"])
        #expect(bench.store.entries.keys.sorted() == ["d", "d/x"])
        #expect(bench.store.text(at: "d/x") == "one")
    }
}
