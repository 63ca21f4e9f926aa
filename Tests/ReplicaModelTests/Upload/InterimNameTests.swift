import ReplicaTestSupport
import Testing
import Threads

@testable import ReplicaModel

/// A cycle of moves is resolved by a temporary name of one item in the store. No item keeps it.
@Suite struct InterimNameTests {
    private static func isInterim(_ path: String) -> Bool { path.contains(".replica-moving") }

    /// Two files of one folder that have exchanged their names; both sides were in sync before.
    private func makeRing() async throws -> Bench {
        let bench = try Bench()
        try bench.write("one", to: "a")
        try bench.write("two", to: "b")
        try await bench.settle()
        try bench.rename("a", to: "b", .exchange)
        return bench
    }

    /// Lets only the first call of a cycle be made.
    private func takeApart(_ bench: Bench) async throws {
        let calls = Locked(0, rank: .innermost)
        bench.store.setHooks(before: { (call) async throws(RemoteStoreError) in
            guard call.method == .modifyItem else { return }
            let count = calls.withLock { calls in
                calls += 1
                return calls
            }
            if count > 1 { throw .itemUnavailable("not now") }
        })
        try await bench.exchange()
        bench.store.setHooks()
        try #require(bench.store.entries.keys.contains(where: Self.isInterim))
    }

    private func expectNone(_ bench: Bench) throws {
        #expect(try bench.tree().keys.filter(Self.isInterim).isEmpty)
        #expect(bench.store.entries.keys.filter(Self.isInterim).isEmpty)
    }

    @Test func aCycleOfMovesIsSent() async throws {
        let bench = try await makeRing()
        try await bench.settle()
        #expect(bench.store.text(at: "a") == "two")
        #expect(bench.store.text(at: "b") == "one")
        #expect(bench.store.calls(of: .createItem).count == 2)
        try expectNone(bench)
    }

    /// The folder waited for its contents, and gave its place to the new one.
    @Test func aFolderThatTheStoreKeepsGetsItsOwnNameBack() async throws {
        let bench = try Bench()
        try bench.makeFolder("e")
        for index in 1...4 { try bench.write("\(index)", to: "e/file\(index)") }
        try await bench.settle()
        for index in 1...4 { try bench.remove("e/file\(index)") }
        try bench.remove("e", isFolder: true)
        try bench.makeFolder("e")
        try bench.write("other", to: "e/file1")
        bench.store.fail(.deleteItem, with: .itemUnavailable("not now"), times: .max)
        for _ in 0..<6 { try await bench.send(after: 0.1) }
        for _ in 0..<6 { try await bench.send() }
        try #require(bench.store.entries.keys.contains(where: Self.isInterim))
        bench.store.setHooks()
        bench.store.fail(.deleteItem, with: .deletionRejected(nil), times: 4)
        try await bench.settle()
        try expectNone(bench)
        for path in ["e 2/file1", "e 2/file2", "e 2/file3", "e 2/file4"] {
            #expect(try await bench.read(path) == String(path.last ?? " "))
        }
        #expect(try await bench.read("e/file1") == "other")
        let here = try bench.tree().keys.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
        #expect(bench.store.entries.keys.sorted() == here.sorted())
    }

    @Test func aKillDuringAnExchangeLeavesNoInterimName() async throws {
        let bench = try await makeRing()
        try await takeApart(bench)
        try bench.crash()
        try await bench.settle()
        #expect(bench.store.text(at: "a") == "two")
        #expect(bench.store.text(at: "b") == "one")
        try expectNone(bench)
    }

    /// An item that is removed here while it has an interim name in the store is removed there; one that is edited in
    /// the store comes back under its local name.
    @Test func itemsRemovedDuringAnExchangeAreRemovedInTheStore() async throws {
        let bench = try await makeRing()
        try await takeApart(bench)
        for name in ["a", "b"] { try bench.remove(name) }
        try await bench.settle()
        #expect(try bench.tree().isEmpty)
        #expect(bench.store.entries.isEmpty)
    }

    @Test func anItemEditedInTheStoreDuringAnExchangeComesBack() async throws {
        let bench = try await makeRing()
        try await takeApart(bench)
        let interim = try #require(bench.store.entries.keys.first(where: Self.isInterim))
        let text = try #require(bench.store.text(at: interim))
        let name = text == "one" ? "b" : "a"
        bench.store.write("newer", to: interim)
        try bench.remove(name)
        try await bench.settle()
        try expectNone(bench)
        #expect(try await bench.read(name) == "newer")
        #expect(bench.store.text(at: name) == "newer")
    }

    @Test func anItemMovedByAnotherClientDuringAnExchangeGetsItsLocalName() async throws {
        let bench = try await makeRing()
        bench.store.makeFolder("d")
        try await bench.receive()
        _ = try await bench.find("d")
        try await bench.engine.list(try bench.number("d"))
        try await takeApart(bench)
        let interim = try #require(bench.store.entries.keys.first(where: Self.isInterim))
        let name = bench.store.text(at: interim) == "one" ? "b" : "a"
        bench.store.move(interim, to: "d/" + interim)
        try await bench.settle()
        try expectNone(bench)
        #expect(bench.store.text(at: "d/" + name) != nil)
    }

    /// Both sides have moved folders into each other meanwhile, so that one of them returns to its place in the store.
    @Test func aFolderMovedBackDuringAnExchangeGetsItsLocalName() async throws {
        let bench = try Bench()
        for path in ["p", "p/a", "c", "c/x"] { try bench.makeFolder(path) }
        try bench.write("1", to: "p/a/1")
        try bench.write("2", to: "c/x/2")
        try await bench.settle()
        try bench.rename("p/a", to: "c/x", .exchange)
        try await takeApart(bench)
        let interim = try #require(bench.store.entries.keys.first(where: Self.isInterim)?.split(separator: "/"))
        // The local folder of the cycle's other item moves into it.
        let other = interim[0] == "p" ? "c" : "p"
        bench.store.move(other, to: interim[0..<2].joined(separator: "/") + "/" + other)
        try await bench.settle()
        try expectNone(bench)
        #expect(try bench.tree().count == bench.store.entries.count)
        #expect(bench.store.entries.keys.filter { $0.hasSuffix("/1") || $0.hasSuffix("/2") }.count == 2)
    }

    /// An item that was moved here, while it had an interim name in the store, is moved there.
    @Test func aLocalMoveDuringAnExchangeReachesTheStore() async throws {
        let bench = try await makeRing()
        try bench.makeFolder("d")
        try await takeApart(bench)
        let interim = try #require(bench.store.entries.keys.first(where: Self.isInterim))
        let name = bench.store.text(at: interim) == "one" ? "b" : "a"
        try bench.rename(name, to: "d/" + name)
        bench.store.update(interim) { $0.mode = 0o600 }
        try await bench.settle()
        try expectNone(bench)
        #expect(bench.store.text(at: "d/" + name) != nil)
    }

    /// With an older database, or with none, the item is recognized by its name; also in an unlisted folder.
    @Test(arguments: [true, false]) func anUnknownItemWithAnInterimNameGetsItsOriginalName(isListed: Bool) async throws
    {
        let bench = try Bench()
        let name = bench.replica.withTree {
            $0.store.names.interim.of(ItemNumber(7), FileName("a.txt"), attempt: 2, $0.store.names.conflicts)
        }
        for folder in ["d", "e"] { bench.store.makeFolder(folder) }
        bench.store.write("one", to: "d/" + name.description)
        bench.store.write("two", to: "e/" + name.description)
        bench.store.write("other", to: "e/a.txt")
        if isListed {
            try await bench.settle()
            for folder in ["d", "e"] { try await bench.engine.list(try bench.number(folder)) }
        }
        try await bench.settle()
        #expect(try await bench.read("d/a.txt") == "one")
        #expect(try await bench.read("e/a.txt") == "other")
        #expect(try await bench.read("e/a 2.txt") == "two")
        try await bench.settle()
        try expectNone(bench)
        #expect(bench.store.entries.keys.sorted() == ["d", "d/a.txt", "e", "e/a 2.txt", "e/a.txt"])
    }

    /// Interim names of another replica are not touched.
    @Test func interimNamesOfOtherReplicasAreKept() async throws {
        let bench = try Bench()
        let name = InterimName(mark: Array("another".utf8)).of(
            ItemNumber(7), FileName("a"), attempt: 0, ConflictNames())
        bench.store.write("one", to: name.description)
        try await bench.settle()
        #expect(try bench.tree().keys.sorted() == [name.description])
        #expect(bench.store.calls(of: .modifyItem).isEmpty)
    }

    /// A user's file with such a name is left unchanged, here and in the store.
    @Test(arguments: [false, true]) func aFileWithAnInterimNameIsNotTouched(isInStore: Bool) async throws {
        let bench = try await makeRing()
        let names = try bench.interimNames()
        for name in names {
            if isInStore { bench.store.write("mine", to: name) } else { try bench.write("mine", to: name) }
        }
        if !isInStore { try await bench.settle() }
        try await bench.settle()
        #expect(bench.store.text(at: "a") == "two")
        #expect(bench.store.text(at: "b") == "one")
        #expect(bench.store.entries.values.filter { $0.content == Array("mine".utf8) }.count == names.count)
        #expect(bench.store.calls(of: .modifyItem).count < 12)
    }

    /// The store rejects all renames: they are retried with pauses.
    @Test func aRejectedInterimNameIsNotRetriedImmediately() async throws {
        let bench = try await makeRing()
        bench.store.fail(.modifyItem, with: .cannotSynchronize("no"), times: .max)
        for _ in 0..<20 { try await bench.send(after: 0.2) }
        #expect((1..<5).contains(bench.store.calls(of: .modifyItem).count))
        bench.store.setHooks()
        bench.engine.retryAll()
        try await bench.settle()
        #expect(bench.store.text(at: "a") == "two")
        try expectNone(bench)
    }
}

extension Bench {
    /// The interim names of the items here.
    fileprivate func interimNames() throws -> [String] {
        try ["a", "b"].map { path in
            let number = try number(path)
            return try replica.withTreeWaking { (tree) throws(ReplicaError) in
                tree.interimName(of: tree.items[number]!, in: tree.root).description
            }
        }
    }
}
