import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import ReplicaModel

/// connect, disconnect, retry, resolved, approve and waiting (statements 25 and 26, MODEL.md#errors).
@Suite struct ConnectionTests {
    private static let names = DomainBench.names

    @Test func statement25_disconnectedNothingIsCalledAndEverythingWorks() async throws {
        try await DomainBench.run { bench in
            try await bench.write("before", to: "f")
            try await bench.settle()
            try bench.domain.disconnect(reason: "on a train")
            let report = try bench.domain.report()
            #expect(report.state == .disconnected)
            #expect(report.reason == "on a train")
            #expect(report.uploads == nil)
            bench.store.clearCalls()
            try await bench.makeFolder("d")
            try await bench.write("offline", to: "d/g")
            // The next sync of what was recorded is due.
            #expect(try await eventually { bench.replica.isSyncedHere })
            #expect(try await bench.read("f") == "before")
            try await bench.restart()
            #expect(bench.domain.disconnectedReason == "on a train")
            #expect(bench.store.calls.isEmpty)
            try bench.domain.connect()
            try await bench.settle()
            #expect(bench.store.text(at: "d/g") == "offline")
            #expect(try bench.domain.report().state == .idle)
        }
    }

    /// Changes are recorded while nothing is sent: a crash must not find the database older than that.
    @Test func changesWhileDisconnectedAreRecorded() async throws {
        try await DomainBench.run { bench in
            try await bench.settle()
            try bench.domain.disconnect(reason: "on a train")
            try await bench.write("offline", to: "f")
            try await bench.until("a record") { !bench.replica.hasChanges }
            try bench.domain.connect()
        }
    }

    @Test func aTemporaryDisconnectionEndsWithTheNextStart() async throws {
        try await DomainBench.run { bench in
            try await bench.settle()
            try bench.domain.disconnect(reason: "an update", isTemporary: true)
            #expect(try bench.domain.report().reason == "an update (until the daemon is restarted)")
            bench.store.clearCalls()
            try await bench.write("text", to: "f")
            #expect(bench.store.calls.isEmpty)
            try await bench.restart()
            #expect(bench.domain.disconnectedReason == nil)
            try await bench.settle()
            #expect(bench.store.text(at: "f") == "text")
            // The last call wins.
            try bench.domain.disconnect(reason: "on a train")
            try bench.domain.disconnect(reason: "an update", isTemporary: true)
            try await bench.restart()
            #expect(bench.domain.disconnectedReason == nil)
            try bench.domain.disconnect(reason: "an update", isTemporary: true)
            try bench.domain.disconnect(reason: "on a train")
            try await bench.restart()
            #expect(bench.domain.disconnectedReason == "on a train")
        }
    }

    @Test func statement26_stabilizationWaitsForBothSides() async throws {
        try await DomainBench.run { bench in
            for number in 0..<100 { try await bench.write("\(number)", to: "f\(number)") }
            bench.store.write("theirs", to: "theirs")
            try await bench.domain.waitForStabilization()
            for number in 0..<100 { #expect(bench.store.text(at: "f\(number)") == "\(number)") }
            #expect(bench.exists("theirs"))
        }
    }

    /// A store that compares at intervals finds what others wrote in between.
    @Test func statement26_aWaitPollsEverything() async throws {
        let store = DrowsyStore()
        let bench = try Bench(store: store.memory, through: store)
        try await bench.settle()
        store.memory.write("theirs", to: "theirs")
        try await bench.settle()
        #expect(try bench.tree().isEmpty)
        let domain = bench.domain
        let wait = Task { try await domain.waitForStabilization() }
        let isThere = try await eventually {
            await bench.engine.receive()
            return try !bench.tree().isEmpty
        }
        #expect(isThere)
        #expect(try bench.tree().keys.sorted() == ["theirs"])
        wait.cancel()
        _ = await wait.result
        store.memory.write("more", to: "more")
        bench.domain.retry()
        try await bench.settle()
        #expect(try bench.tree().keys.sorted() == ["more", "theirs"])
    }

    @Test func waitingReportsProgress() async throws {
        try await DomainBench.run { bench in
            try await bench.settle()
            let (gate, others) = (HeldCalls(), HeldCalls())
            bench.store.setHooks(before: { call throws(RemoteStoreError) in
                guard let name = call.template?.filename else { return }
                try await (name == FileName("slow") ? gate : others).pass()
            })
            try await bench.write("of slow", to: "slow")
            // Calls that are started together are made one after the other.
            try await bench.until("it is under way") { !bench.store.calls(of: .createItem).isEmpty }
            for name in ["a", "b"] { try await bench.write("of \(name)", to: name) }
            let domain = bench.domain
            let (all, one) = (RequestProgress(), RequestProgress())
            let waits = [
                Task { try await domain.waitForStabilization(work: all) },
                Task { try await domain.waitForChanges(below: Self.names("slow"), work: one) },
            ]
            try await bench.until("all is counted") { all.counts.itemsTotal == 3 && one.counts.itemsTotal == 1 }
            #expect(all.counts.items == 0 && all.counts.bytesTotal == 15 && !all.counts.isCounting)
            others.open()
            try await bench.until("all but one is sent") { all.counts.items == 2 }
            // The store has accepted the bytes of the call in flight.
            #expect(
                all.counts
                    == RequestProgress.Counts(items: 2, itemsTotal: 3, bytes: 15, bytesTotal: 15, isCounting: false))
            #expect(
                one.counts
                    == RequestProgress.Counts(items: 0, itemsTotal: 1, bytes: 7, bytesTotal: 7, isCounting: false))
            gate.open()
            for wait in waits { try await wait.value }
            #expect(one.counts.items == 1 && one.counts.bytes == 7)
        }
    }

    /// The store's answer about its changes comes long after everything was sent.
    @Test func statement26_theStoresSideIsWaitedForWhenOursIsDone() async throws {
        try await DomainBench.run { bench in
            try await bench.settle()
            let isSent = Locked(false)
            let store = bench.store
            store.setHooks(before: { call throws(RemoteStoreError) in
                guard call.method == .enumerateChanges else { return }
                while store.text(at: "ours") == nil { try? await Task.sleep(for: .milliseconds(5)) }
                try? await Task.sleep(for: .seconds(1))
                isSent.withLock { $0 = true }
            })
            try await bench.write("ours", to: "ours")
            store.write("theirs", to: "theirs")
            try await bench.domain.waitForStabilization()
            #expect(isSent.withLock { $0 })
            #expect(bench.exists("theirs"))
        }
    }

    /// Otherwise whoever reads the mount next may get what the kernel had cached.
    @Test func statement26_theKernelIsWaitedFor() async throws {
        try await DomainBench.run { bench in
            try await bench.settle()
            let presenter = RefusingPresenter()
            presenter.isLate.withLock { $0 = true }
            bench.replica.setPresenter(presenter)
            defer { bench.replica.setPresenter(nil) }
            bench.store.write("theirs", to: "theirs")
            let (domain, isStable) = (bench.domain, Locked(false))
            let wait = Task {
                try await domain.waitForStabilization(isShown: true)
                isStable.withLock { $0 = true }
            }
            defer { wait.cancel() }
            try await bench.until("the change and the wait are to be told") { presenter.waiting == 2 }
            #expect(bench.exists("theirs"))
            // Who did not wait would have ended by then.
            try await Task.sleep(for: .milliseconds(200))
            #expect(!isStable.withLock { $0 })
            presenter.tell()
            try await wait.value
        }
    }

    /// The store knows of a move, but not of its target yet.
    @Test func statement26_anIncompleteBatchDoesNotEndTheWait() async throws {
        let slow = HesitantStore()
        let bench = try Bench(store: slow.memory, through: slow)
        try await bench.settle()
        slow.memory.write("news", to: "f")
        slow.incomplete.withLock { $0 = 5 }
        let (domain, isDone) = (bench.domain, Locked(false))
        let waiting = Task {
            try await domain.waitForStabilization()
            isDone.withLock { $0 = true }
        }
        defer { waiting.cancel() }
        // Far less time than to the next regular pull.
        var passed = 0.0
        try await bench.until("the wait has ended") {
            if passed < 40 {
                bench.pass(0.2)
                passed += 0.2
            }
            await bench.engine.receive()
            _ = await bench.engine.send()
            return isDone.withLock { $0 }
        }
        #expect(slow.incomplete.withLock { $0 } == 0)
        #expect(try bench.tree().keys.sorted() == ["f"])
    }

    /// The store never finds the target: a wait needs a pull that ends.
    @Test func statement26_aStoreThatStaysIncompleteIsNotWaitedForForever() async throws {
        let slow = HesitantStore()
        let bench = try Bench(store: slow.memory, through: slow)
        try await bench.settle()
        let engine = bench.engine
        func endsPull() async -> Bool {
            await engine.pull()
            return engine.state.withLock { $0.pulls.done == $0.pulls.begun }
        }
        func becomesIncomplete() { slow.incomplete.withLock { $0 = .max } }
        becomesIncomplete()
        #expect(await !endsPull())
        bench.pass(29)
        #expect(await !endsPull())
        bench.pass(1)
        #expect(await endsPull())
        // After a complete batch it gets its time again.
        slow.incomplete.withLock { $0 = 0 }
        #expect(await endsPull())
        becomesIncomplete()
        #expect(await !endsPull())
    }

    /// The answer to a question about an item replaces the noted change, as a new one.
    @Test func statement26_aChangeThatIsNotedAgainIsWaitedFor() throws {
        let bench = try Bench()
        let replica = bench.replica
        func note(_ name: String) throws {
            let change = Incoming(identifier: ItemIdentifier(name), item: nil, asked: 1, isQuestion: true)
            try replica.noteIncoming([change], anchor: nil)
        }
        try note("a")
        var left = try replica.database.read { try NotedChanges(in: $0) }
        try note("b")
        try note("a")
        try replica.database.read { try left.update(isCounting: false, in: $0) }
        #expect(!left.isEmpty)
        let noted = try replica.incoming(after: 0, limit: 10)
        try replica.noteApplied(noted.filter { $0.1.identifier.rawValue == "a" }.map { ($0.0, $0.1.identifier) })
        try replica.database.read { try left.update(isCounting: false, in: $0) }
        #expect(left.isEmpty)
    }

    /// The change is made, but who made it has not come to its invalidation yet.
    @Test func statement26_anInvalidationThatIsStillToComeIsWaitedFor() async throws {
        try await DomainBench.run { bench in
            try await bench.settle()
            bench.replica.setPresenter(RefusingPresenter())
            defer { bench.replica.setPresenter(nil) }
            let place = ItemPlace(folder: .root, name: FileName("theirs"))
            bench.replica.withTree { $0.presentations.addUnreported([place]) }
            let (domain, isStable) = (bench.domain, Locked(false))
            let wait = Task {
                try await domain.waitForStabilization(isShown: true)
                isStable.withLock { $0 = true }
            }
            defer { wait.cancel() }
            try await Task.sleep(for: .milliseconds(500))
            #expect(!isStable.withLock { $0 })
            bench.replica.withTree { $0.presentations.removeUnreported([place]) }
            try await wait.value
        }
    }

    @Test func stabilizationWaitsForAConflictsCopy() async throws {
        try await DomainBench.run { bench in
            try await bench.write("base", to: "f")
            try await bench.settle()
            try bench.domain.disconnect(reason: "test")
            try await bench.write("ours", to: "f")
            bench.store.write("theirs", to: "f")
            try bench.domain.connect()
            try await bench.domain.waitForStabilization()
            let texts = bench.store.entries.values.map { String(decoding: $0.content, as: UTF8.self) }
            #expect(texts.sorted() == ["ours", "theirs"])
        }
    }

    @Test func waitingForChangesIsAboutOneFolder() async throws {
        try await DomainBench.run { bench in
            try await bench.makeFolder("a")
            try await bench.makeFolder("b")
            try await bench.settle()
            let gate = HeldCalls()
            bench.store.setHooks(before: { call throws(RemoteStoreError) in
                if call.template?.filename == FileName("slow") { try await gate.pass() }
            })
            bench.store.clearCalls()
            try await bench.write("slow", to: "b/slow")
            try await bench.until("one is under way") { !bench.store.calls(of: .createItem).isEmpty }
            try await bench.write("quick", to: "a/quick")
            try await bench.domain.waitForChanges(below: Self.names("a"))
            #expect(bench.store.text(at: "a/quick") == "quick")
            #expect(bench.store.text(at: "b/slow") == nil)
            gate.open()
            try await bench.domain.waitForChanges(below: Self.names("b"))
            #expect(bench.store.text(at: "b/slow") == "slow")
        }
    }

    @Test func aWaitForARejectedItemEnds() async throws {
        try await DomainBench.run { bench in
            bench.store.setHooks(before: { call throws(RemoteStoreError) in
                if call.method == .createItem { throw .cannotSynchronize("a bad name") }
            })
            try await bench.write("text", to: "f")
            do {
                try await bench.domain.waitForChanges(below: [])
                Issue.record("it ended well")
            } catch let error as ItemError {
                #expect(error.code == "cannotSynchronize")
                #expect(error.message == "a bad name")
            }
            let item = try await bench.item("f")
            #expect(item.error?.retryAt == nil)
            try await bench.until("the error is counted") { try bench.domain.report().errors == 1 }
            bench.store.setHooks()
            try await bench.domain.retry(Self.names("f"))
            try await bench.settle()
            #expect(bench.store.text(at: "f") == "text")
            #expect(try bench.domain.report().errors == 0)
        }
    }

    @Test(arguments: [RemoteStoreError.notAuthenticated, .insufficientQuota, .cannotSynchronize("why")])
    func aResolvedErrorIsRetried(error: RemoteStoreError) async throws {
        try await DomainBench.run { bench in
            bench.store.setHooks(before: { call throws(RemoteStoreError) in
                if call.method == .createItem { throw error }
            })
            try await bench.write("text", to: "f")
            try await bench.until("the error") { try await bench.item("f").error?.code == error.code }
            bench.store.setHooks()
            try bench.domain.resolved(error.code)
            try await bench.settle()
            #expect(bench.store.text(at: "f") == "text")
            #expect(throws: Errno.invalidArgument) { try bench.domain.resolved("noSuchItem") }
        }
    }

    @Test func excludedItemsAreAskedAboutAgainWhenResolved() async throws {
        try await DomainBench.run { bench in
            bench.store.setHooks(before: { call throws(RemoteStoreError) in
                if call.method == .createItem { throw .excludedFromSync }
            })
            try await bench.write("text", to: "f")
            try await bench.settle()
            #expect(bench.store.entries.isEmpty)
            bench.store.setHooks()
            try bench.domain.resolved("excludedFromSync")
            try await bench.settle()
            #expect(bench.store.text(at: "f") == "text")
        }
    }

    @Test func aMassDeletionIsHeld() async throws {
        let store = MemoryStore()
        for number in 0..<150 { store.write("\(number)", to: "f\(number)") }
        try await DomainBench.run(store: store) { bench in
            try await bench.settle()
            for number in 0..<140 { store.delete("f\(number)") }
            try await bench.until("it is held") { try bench.domain.report().state == .held }
            #expect(try bench.domain.report().reason?.contains("140") == true)
            #expect(bench.exists("f1"))
            #expect(bench.domain.approve() == 140)
            try await bench.settle()
            #expect(!bench.exists("f1"))
            #expect(bench.exists("f149"))
        }
    }

    @Test func anUnreachableStoreIsReported() async throws {
        try await DomainBench.run { bench in
            bench.store.setHooks(before: { _ throws(RemoteStoreError) in throw .serverUnreachable })
            bench.domain.engine.askNow()
            try await bench.until("it is offline") { try bench.domain.report().state == .offline }
            #expect(try bench.domain.report().reason == "the store can't be reached")
            bench.store.setHooks()
            bench.domain.retry()
            try await bench.until("it is idle") { try bench.domain.report().state == .idle }
        }
    }
}

/// A store that reports changes only when it is told to look.
private final class DrowsyStore: StoreWrapper {
    let memory = MemoryStore()
    private let isAwake = Locked(true)
    var store: any RemoteStore { memory }

    func pollEverything() { isAwake.withLock { $0 = true } }

    func enumerateChanges(from anchor: SyncAnchor) async throws(RemoteStoreError) -> ChangeBatch {
        let looks = isAwake.withLock { isAwake in
            defer { isAwake = false }
            return isAwake
        }
        guard looks else { return ChangeBatch(updated: [], deleted: [], anchor: anchor, moreComing: false) }
        return try await memory.enumerateChanges(from: anchor)
    }
}

/// A store whose next batches are incomplete and have none of its changes.
private final class HesitantStore: StoreWrapper {
    let memory = MemoryStore()
    let incomplete = Locked(0)
    var store: any RemoteStore { memory }

    func enumerateChanges(from anchor: SyncAnchor) async throws(RemoteStoreError) -> ChangeBatch {
        let isIncomplete = incomplete.withLock { left in
            defer { left = max(0, left - 1) }
            return left > 0
        }
        guard isIncomplete else { return try await memory.enumerateChanges(from: anchor) }
        var batch = ChangeBatch(updated: [], deleted: [], anchor: anchor)
        batch.isIncomplete = true
        return batch
    }
}
