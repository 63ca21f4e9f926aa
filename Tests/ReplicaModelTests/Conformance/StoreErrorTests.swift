import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import ReplicaModel

/// MODEL.md#errors: the effect of each error of a change, how it is reported, and how the user resolves it.
@Suite struct StoreErrorTests {
    @Test(arguments: [
        (RemoteStoreError.notAuthenticated, "the store requires a login"),
        (.insufficientQuota, "the store is full"),
        (.readOnly, "the store is read-only"),
        (.serverUnreachable, "the store can't be reached"),
    ])
    func theDomainBacksOff(error: RemoteStoreError, reason: String) async throws {
        let bench = try Bench()
        bench.store.fail(.createItem, with: error, times: .max)
        try bench.write("one", to: "x")
        try bench.write("two", to: "y")
        try await bench.send()
        // One call detected it for all.
        #expect(bench.store.calls(of: .createItem).count == 1)
        let said = try #require(try await bench.report("x").error)
        #expect(said.code == error.code)
        #expect(said.attempts == 1)
        #expect(said.retryAt != nil)
        let domain = try bench.domain.report()
        #expect(domain.state == .offline)
        #expect(domain.reason == reason)
        #expect(domain.pending == 2)
        // Local work continues, and nothing is retried early.
        #expect(try bench.tree() == ["x": "one", "y": "two"])
        try await bench.send(after: 0.1)
        #expect(bench.store.calls(of: .createItem).count == 1)
        try await bench.send(after: 400)
        #expect(bench.store.calls(of: .createItem).count == 2)
        #expect(try await bench.report("x").error?.code == error.code)
        // The user reports that the cause is gone: no waiting for the next retry.
        bench.store.setHooks()
        try bench.domain.resolved(error.code)
        try await bench.send()
        #expect(bench.store.entries.keys.sorted() == ["x", "y"])
        try await bench.settle()
        #expect(try await bench.report("x").error == nil)
        #expect(try bench.domain.report().state == .idle)
        #expect(try bench.domain.report().errors == 0)
    }

    @Test(arguments: [RemoteStoreError.notAuthenticated, .insufficientQuota, .readOnly, .serverUnreachable, .cancelled])
    func temporaryErrorsAreRetried(error: RemoteStoreError) async throws {
        let bench = try Bench()
        bench.store.fail(.createItem, with: error, times: 5)
        try bench.write("one", to: "x")
        try await bench.settle()
        #expect(bench.store.text(at: "x") == "one")
        #expect(bench.store.calls(of: .createItem).count == 6)
        #expect(try await bench.report("x").error == nil)
    }

    @Test func retriesBackOff() {
        let delays = (1...20).map { Backoff.delay(attempts: $0, jitter: 1) }
        #expect(delays == delays.sorted())
        #expect(delays.first == 1)
        #expect(delays.last == 300)
        #expect((1...20).allSatisfy { Backoff.delay(attempts: $0, jitter: 0) * 2 == delays[$0 - 1] })
    }

    @Test func theNextRetrySurvivesARestart() async throws {
        let bench = try Bench()
        bench.store.fail(.createItem, with: .serverUnreachable, times: .max)
        try bench.write("one", to: "x")
        try await bench.send()
        let before = try await bench.report("x").error
        try bench.restart()
        #expect(try await bench.report("x").error == before)
        try await bench.send(after: 0.1)
        #expect(bench.store.calls(of: .createItem).count == 1)
    }

    enum WayOut: CaseIterable { case edit, retry, retryItem, resolved }

    @Test(
        arguments: [RemoteStoreError.cannotSynchronize("too long a name"), .unsupported("files")], WayOut.allCases)
    func permanentErrorsAreParked(error: RemoteStoreError, way: WayOut) async throws {
        let bench = try Bench()
        bench.store.fail(.createItem, with: error)
        try bench.write("one", to: "x")
        try bench.write("two", to: "y")
        try await bench.send()
        let said = try #require(try await bench.report("x").error)
        #expect(said.code == error.code)
        #expect(said.message == error.message)
        #expect(said.retryAt == nil)
        // The others continue.
        #expect(bench.store.entries.keys.sorted() == ["y"])
        #expect(try bench.domain.report().errors == 1)
        try await bench.send(after: 100_000)
        #expect(bench.store.calls(of: .createItem).count == 2)
        switch way {
        case .edit: try bench.write("one more", to: "x")
        case .retry: bench.domain.retry()
        case .retryItem: try await bench.domain.retry(Bench.names("x"))
        case .resolved:
            guard error.code == "cannotSynchronize" else {
                #expect(throws: Errno.invalidArgument) { try bench.domain.resolved(error.code) }
                return
            }
            try bench.domain.resolved(error.code)
        }
        try await bench.settle()
        #expect(bench.store.entries.keys.sorted() == ["x", "y"])
        #expect(try bench.domain.report().errors == 0)
    }

    @Test func onlyTemporaryCausesCanBeResolved() throws {
        let bench = try Bench()
        for code in ["noSuchItem", "versionConflict", "unsupported", "nonsense", ""] {
            #expect(throws: Errno.invalidArgument) { try bench.domain.resolved(code) }
        }
    }

    @Test func anExcludedItemStaysLocalUntilEdited() async throws {
        let bench = try Bench()
        bench.store.fail(.createItem, with: .excludedFromSync)
        try bench.write("one", to: "x")
        try await bench.settle()
        #expect(bench.store.entries.isEmpty)
        #expect(try bench.tree() == ["x": "one"])
        #expect(try await bench.report("x").isPending == false)
        #expect(try bench.domain.report().pending == 0)
        #expect(try bench.domain.report().errors == 0)
        try bench.restart()
        try await bench.settle()
        #expect(bench.store.calls(of: .createItem).count == 1)
        try bench.rename("x", to: "y")
        try await bench.settle()
        #expect(bench.store.text(at: "y") == "one")
    }

    @Test func itemsInAnExcludedFolderAreExcluded() async throws {
        let bench = try Bench()
        bench.store.fail(.createItem, with: .excludedFromSync)
        try bench.makeFolder("d")
        try bench.makeFolder("d/e")
        try bench.write("one", to: "d/e/x")
        try await bench.settle()
        try bench.restart()
        try await bench.settle()
        #expect(bench.store.entries.isEmpty)
        #expect(try bench.domain.report().pending == 0)
        _ = try await bench.find("d/e/x")
        try bench.rename("d", to: "f")
        try await bench.settle()
        #expect(bench.store.entries.keys.sorted() == ["f", "f/e", "f/e/x"])
        #expect(bench.store.text(at: "f/e/x") == "one")
    }

    @Test func excludedItemsAreRetriedWhenResolved() async throws {
        let bench = try Bench()
        bench.store.fail(.createItem, with: .excludedFromSync, times: 2)
        try bench.write("one", to: "x")
        try bench.makeFolder("d")
        try bench.write("two", to: "d/y")
        try await bench.settle()
        // The contents of an excluded folder are excluded too.
        #expect(bench.store.entries.isEmpty)
        #expect(try bench.domain.report().pending == 0)
        try bench.domain.resolved("excludedFromSync")
        try await bench.settle()
        #expect(bench.store.entries.keys.sorted() == ["d", "d/y", "x"])
    }

    @Test func aNewItemWithATakenNameIsRenamed() async throws {
        let bench = try Bench()
        try await bench.settle()
        bench.store.write("theirs", to: "f.txt")
        try bench.write("ours", to: "f.txt")
        try await bench.send()
        #expect(bench.store.calls(of: .createItem).count >= 1)
        try await bench.settle()
        #expect(bench.store.text(at: "f.txt") == "theirs")
        #expect(bench.store.text(at: "f 2.txt") == "ours")
        #expect(try await bench.read("f.txt") == "theirs")
        #expect(try await bench.read("f 2.txt") == "ours")
    }

    @Test func aRenameToATakenNameIsBounced() async throws {
        let bench = try Bench()
        try bench.write("ours", to: "g.txt")
        try await bench.settle()
        bench.store.write("theirs", to: "f.txt")
        try bench.rename("g.txt", to: "f.txt")
        try await bench.send()
        #expect(bench.store.calls(of: .modifyItem).count >= 1)
        try await bench.settle()
        #expect(bench.store.text(at: "f.txt") == "theirs")
        #expect(bench.store.text(at: "f 2.txt") == "ours")
        #expect(bench.store.entries.count == 2)
    }

    @Test func aCollisionWithAnUnknownItemIsResolved() async throws {
        let bench = try Bench()
        bench.store.fail(.createItem, with: .filenameCollision(nil))
        try bench.write("ours", to: "f.txt")
        try await bench.settle()
        #expect(bench.store.text(at: "f 2.txt") == "ours")
        #expect(try bench.tree() == ["f 2.txt": "ours"])
    }

    @Test func anEditOfADeletedItemCreatesItAgain() async throws {
        let bench = try Bench()
        try bench.write("one", to: "x")
        try await bench.settle()
        bench.store.delete("x")
        try bench.write("two", to: "x")
        try await bench.send()
        #expect(bench.store.calls(of: .modifyItem).count == 1)
        try await bench.settle()
        let create = try #require(bench.store.calls(of: .createItem).last)
        #expect(create.options == CreateOptions.deletionConflicted.rawValue)
        #expect(bench.store.text(at: "x") == "two")
    }

    @Test(arguments: [true, false])
    func aRejectedDeletionBringsTheItemBack(saysWhich: Bool) async throws {
        let bench = try Bench()
        try bench.write("one", to: "x")
        try await bench.settle()
        let item = bench.store.item(at: "x")
        bench.store.fail(.deleteItem, with: .deletionRejected(saysWhich ? item : nil))
        try bench.remove("x")
        try await bench.send()
        try await bench.settle()
        #expect(bench.store.calls(of: .deleteItem).count == 1)
        if saysWhich { #expect(bench.store.calls(of: .item).isEmpty) }
        #expect(try await bench.read("x") == "one")
        #expect(try await bench.report("x").error == nil)
    }

    @Test func aFolderThatIsNotEmptyComesBack() async throws {
        let bench = try Bench()
        try bench.makeFolder("d")
        try await bench.settle()
        bench.store.write("theirs", to: "d/new")
        try bench.remove("d", isFolder: true)
        try await bench.send()
        #expect(bench.store.calls(of: .deleteItem).count == 1)
        try await bench.settle()
        #expect(try await bench.read("d/new") == "theirs")
        #expect(bench.store.entries.keys.sorted() == ["d", "d/new"])
    }

    @Test(arguments: [true, false])
    func aStaleBaseIsAConflict(saysWhich: Bool) async throws {
        let bench = try Bench()
        try bench.write("base", to: "x.txt")
        try await bench.settle()
        let theirs = bench.store.write("theirs", to: "x.txt")
        bench.store.fail(.modifyItem, with: .versionConflict(saysWhich ? theirs : nil))
        try bench.write("ours", to: "x.txt")
        try await bench.send()
        #expect(bench.store.calls(of: .modifyItem).count == 1)
        try await bench.settle()
        #expect(bench.store.text(at: "x.txt") == "theirs")
        let conflict = try #require(try bench.domain.conflicts().first)
        #expect(conflict.original == Bench.names("x.txt"))
        let copy = try #require(conflict.copy.first?.description)
        #expect(copy.hasPrefix("x (conflict "))
        #expect(bench.store.text(at: copy) == "ours")
        #expect(try bench.domain.report().conflicts == 1)
    }

    @Test func aLocalFileSystemErrorIsReported() async throws {
        let bench = try Bench()
        try await bench.settle()
        // An invalid name is rejected, and all other items arrive.
        bench.store.add(.file, to: .root, FileName(".."))
        bench.store.write("fine", to: "x")
        try await bench.settle()
        #expect(try bench.tree().keys.sorted() == ["x"])
        #expect(try bench.domain.report().errors == 1)
    }
}
