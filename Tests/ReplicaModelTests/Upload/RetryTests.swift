import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import ReplicaModel

/// Retries of failures whose cause may be gone: while a caller waits, after the store's signal, and without either.
@Suite struct RetryTests {
    /// Fails often enough to have long pauses.
    private func tried(_ bench: Bench, _ error: RemoteStoreError) async throws {
        bench.store.fail(.createItem, with: error, times: .max)
        try bench.write("one", to: "x")
        for _ in 0..<12 { try await bench.send(after: 400) }
        bench.store.clearCalls()
    }

    static let passing: [RemoteStoreError] = [
        .readOnly, .insufficientQuota, .itemUnavailable("x: Permission denied"),
    ]

    @Test(arguments: passing) func waitersAreServedWithinTenSeconds(error: RemoteStoreError) async throws {
        let bench = try Bench()
        try await tried(bench, error)
        try await bench.engine.awaited {
            for _ in 0..<30 { try await bench.send(after: 1) }
            // In thirty seconds it is retried at least every ten, but not permanently.
            #expect((3...6).contains(bench.store.calls(of: .createItem).count))
            bench.store.setHooks()
            try await bench.send(after: 10)
        }
        #expect(bench.store.text(at: "x") == "one")
        #expect(bench.engine.state.withLock { $0.waiters } == 0)
    }

    /// A wait for both sides wakes the engine.
    @Test func aWaitWakesTheEngine() async throws {
        let bench = try Bench()
        let mark = bench.wakeSignal.mark
        try await bench.engine.awaited {}
        #expect(bench.wakeSignal.mark != mark)
    }

    @Test(arguments: passing) func aSignalCausesARetry(error: RemoteStoreError) async throws {
        let bench = try Bench()
        try await tried(bench, error)
        try await bench.send(after: 5)
        #expect(bench.store.calls(of: .createItem).isEmpty, "nobody waits, and its time has not come")
        bench.store.setHooks()
        bench.engine.state.withLock { $0.earlyRetry.isSignalled = true }
        try await bench.send(after: 1)
        #expect(bench.store.text(at: "x") == "one")
    }

    /// A file that can't be opened does not delay the others, and is uploaded when it can be opened again.
    @Test func anUnreadableFileBlocksNothing() async throws {
        let bench = try Bench()
        for name in ["x", "y"] { try bench.write(name, to: name) }
        let (path, aside) = (bench.folders.tree.string + "/x", bench.folders.root.string + "/x")
        #expect(rename(path, aside) == 0)
        try await bench.send()
        #expect(bench.store.entries.keys.sorted() == ["y"])
        #expect(rename(aside, path) == 0)
        try await bench.send(after: 6)
        #expect(bench.store.entries.keys.sorted() == ["x", "y"] && bench.store.text(at: "x") == "x")
    }

    /// After a version conflict the store is asked for its item and does not answer: everything waits until it does.
    @Test func unansweredQueriesAreRepeated() async throws {
        let bench = try Bench()
        try bench.write("one", to: "x")
        try await bench.settle()
        bench.store.write("theirs", to: "x")
        bench.store.setHooks(before: { (call) async throws(RemoteStoreError) in
            if call.method == .modifyItem { throw .versionConflict(nil) }
            if call.method == .item { throw .serverUnreachable }
        })
        try bench.write("ours", to: "x")
        try await bench.send()
        #expect(bench.store.calls(of: .item).count == 1)
        #expect(try bench.domain.report().state == .offline)
        #expect(bench.engine.state.withLock { $0.pulls.isWanted })
        try bench.write("other", to: "y")
        try await bench.send(after: 0.1)
        #expect(bench.store.calls(of: .createItem).count == 1)
        bench.store.setHooks()
        try await bench.settle()
        #expect(bench.store.text(at: "x") == "theirs")
        let texts = bench.store.entries.values.map { String(decoding: $0.content, as: UTF8.self) }
        #expect(texts.sorted() == ["other", "ours", "theirs"])
    }

    /// A conflict whose other side can't be read, and a file that is gone while the store does not say so: they are repeated ever more
    /// rarely, so that the store gets a pause in which it can say it.
    @Test(arguments: [RemoteStoreError.versionConflict(nil), .noSuchItem(.root)])
    func whatCannotBeResolvedBacksOff(_ error: RemoteStoreError) async throws {
        let bench = try Bench()
        try bench.write("one", to: "x")
        try await bench.settle()
        bench.store.setHooks(before: { (call) async throws(RemoteStoreError) in
            if call.method == .modifyItem {
                guard case .noSuchItem = error, let identifier = call.template?.identifier else { throw error }
                throw .noSuchItem(identifier)
            }
            if call.method == .item { throw .itemUnavailable("not now") }
        })
        try bench.write("ours", to: "x")
        for _ in 0..<60 { try await bench.send(after: 1) }
        let attempts = bench.store.calls(of: .modifyItem).count
        #expect((3...12).contains(attempts), "\(attempts)")
        bench.store.setHooks()
        try await bench.settle()
        #expect(bench.store.text(at: "x") == "ours")
    }

    /// A conflict is looked at soon, even after other failures with long pauses.
    @Test func aConflictAfterOtherFailuresIsLookedAtSoon() async throws {
        let bench = try Bench()
        try bench.write("one", to: "x")
        try await bench.settle()
        bench.store.fail(.modifyItem, with: .itemUnavailable("not now"), times: .max)
        try bench.write("ours", to: "x")
        for _ in 0..<12 { try await bench.send(after: 400) }
        bench.store.setHooks(before: { (call) async throws(RemoteStoreError) in
            if call.method == .modifyItem { throw .versionConflict(nil) }
        })
        try await bench.send(after: 400)
        bench.store.clearCalls()
        bench.store.setHooks()
        try await bench.send(after: 5)
        #expect(bench.store.calls(of: .modifyItem).count == 1)
        #expect(bench.store.text(at: "x") == "ours")
    }

    @Test func parkedItemsAreRetriedToo() async throws {
        let bench = try Bench()
        for number in 0..<40 {
            try bench.makeFolder("d\(number)")
            try bench.write("\(number)", to: "d\(number)/f")
        }
        bench.store.setHooks(before: { call throws(RemoteStoreError) in
            if call.template?.filename == FileName("f") { throw .cannotSynchronize("not now") }
        })
        for _ in 0..<10 { try await bench.send() }
        #expect(try bench.domain.report().errors == 40)
        bench.store.clearCalls()
        bench.engine.state.withLock { $0.earlyRetry.isSignalled = true }
        try await bench.send()
        #expect(bench.store.calls(of: .createItem).count == 16)
        bench.store.setHooks()
        bench.engine.state.withLock { $0.earlyRetry.isSignalled = true }
        try await bench.send(after: 10)
        try await bench.send(after: 10)
        // If some succeed, all are retried.
        #expect(bench.store.entries.count == 80)
    }

    @Test func aReadOnlyStoreStopsOnlyUploads() async throws {
        let bench = try Bench()
        bench.store.write("theirs", to: "theirs")
        bench.store.fail(.createItem, with: .readOnly, times: .max)
        for number in 0..<40 { try bench.write("\(number)", to: "f\(number)") }
        try await bench.send()
        #expect(bench.store.calls(of: .createItem).count == 1, "one call found it out for all")
        bench.engine.askNow()
        await bench.engine.receive()
        #expect(try await bench.read("theirs") == "theirs")
        let report = try bench.domain.report()
        #expect(report.state == .offline && report.reason == "the store is read-only")
        #expect(report.nextTry != nil)
        try await bench.send(after: 0.1)
        #expect(bench.store.calls(of: .createItem).count == 1, "that it can be read says nothing")
        for number in 0..<40 { try bench.remove("f\(number)") }
        bench.engine.askNow()
        await bench.engine.receive()
        #expect(try bench.domain.report().state == .idle, "nothing is left that it stops")
    }

    @Test func theStatusShowsTheFailureAndTheNextRetry() async throws {
        let bench = try Bench()
        bench.store.fail(.createItem, with: .itemUnavailable("d/x: Permission denied"), times: 2)
        try bench.write("one", to: "x")
        try bench.write("two", to: "y")
        try await bench.send()
        var report = try bench.domain.report()
        #expect(report.state == .syncing)
        #expect(report.reason == "2 items not uploaded, one of them: d/x: Permission denied")
        let now = Timestamp(secondsSince1970: bench.replica.now())
        #expect(try #require(report.nextTry).nanoseconds > now.nanoseconds)
        try await bench.settle()
        report = try bench.domain.report()
        #expect(report.state == .idle && report.reason == nil && report.nextTry == nil)
        bench.store.fail(.createItem, with: .cannotSynchronize("too long a name"))
        try bench.write("three", to: "z")
        try await bench.send()
        report = try bench.domain.report()
        #expect(report.reason == "not uploaded: too long a name" && report.nextTry == nil)
    }

    @Test func failedRemoteChangesAreRetried() async throws {
        let bench = try Bench()
        bench.store.write("one", to: "x")
        try await bench.settle()
        _ = try await bench.read("x")
        bench.store.write("two", to: "x")
        bench.store.fail(.fetchContents, with: .itemUnavailable("x: Permission denied"), times: .max)
        for _ in 0..<12 {
            bench.engine.askNow()
            bench.pass(400)
            await bench.engine.receive()
        }
        #expect(try await bench.read("x") == "one")
        // The failed attempts left no files.
        #expect(try BackingFolderListing(of: try bench.folders.openStaging(), mark: nil).lines.isEmpty)
        bench.store.setHooks()
        bench.engine.state.withLock { $0.earlyRetry.isSignalled = true }
        try await bench.send(after: 1)
        await bench.engine.receive()
        #expect(try await bench.read("x") == "two")
    }
}
