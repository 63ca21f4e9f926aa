import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import ReplicaModel

/// MODEL.md#errors: the errors of programs that read content that is not local.
@Suite struct ReadErrorTests {
    static let told: [(RemoteStoreError, Int32)] = [
        (.notAuthenticated, EACCES), (.serverUnreachable, EHOSTUNREACH), (.insufficientQuota, EDQUOT),
        (.cannotSynchronize("broken"), EIO), (.excludedFromSync, EIO), (.unsupported("reading"), EIO),
        (.versionNoLongerAvailable, ESTALE), (.cancelled, EINTR),
        (.unanswered, EHOSTUNREACH), (.syncAnchorExpired, EHOSTUNREACH),
    ]

    @Test(arguments: told)
    func aFailedFetchIsReportedToTheReader(error: RemoteStoreError, errno: Int32) async throws {
        let bench = try Bench()
        bench.store.write("theirs", to: "x")
        try await bench.settle()
        bench.store.fail(.fetchContents, with: error)
        let number = try bench.number("x")
        await #expect(throws: Errno(rawValue: errno)) { try await bench.engine.hydrate(number, range: nil) }
        // Nothing counts as content, and the next reader requests it again.
        #expect(try await bench.report("x").materialization == .dataless)
        try await bench.settle()
        #expect(try await bench.read("x") == "theirs")
    }

    @Test(arguments: told)
    func aFailedListingIsReportedToTheReader(error: RemoteStoreError, errno: Int32) async throws {
        let bench = try Bench()
        bench.store.write("theirs", to: "d/x")
        try await bench.settle()
        bench.store.fail(.enumerateItems, with: error)
        let number = try bench.number("d")
        await #expect(throws: Errno(rawValue: errno)) { try await bench.engine.list(number) }
        #expect(throws: ReplicaError.needsListing(number)) { try bench.replica.entries(of: number) }
        #expect(try await bench.read("d/x") == "theirs")
    }

    private static let unreadable = RemoteStoreError.itemUnavailable("x: Permission denied")

    /// A reader only gets an errno: the status has the store's words, until the item can be read.
    @Test(arguments: [StoreCall.Method.fetchContents, .enumerateItems], [true, false])
    func theStatusSaysWhyAnItemIsNotFetched(method: StoreCall.Method, isRead: Bool) async throws {
        let bench = try Bench()
        bench.store.write("theirs", to: "d/x")
        try await bench.settle()
        if method == .fetchContents { _ = try await bench.find("d/x") }
        bench.store.setHooks(before: { (call) async throws(RemoteStoreError) in
            if call.method == method { throw Self.unreadable }
        })
        let path = method == .fetchContents ? "d/x" : "d"
        for _ in 1...2 { await #expect(throws: Errno.ioError) { try await bench.read("d/x") } }
        #expect(try await bench.report(path).error?.message == "x: Permission denied")
        var report = try bench.domain.report()
        #expect(report.errors == 1 && report.state == .idle && report.reason == "not downloaded: x: Permission denied")
        bench.store.setHooks()
        if isRead { #expect(try await bench.read("d/x") == "theirs") } else { bench.domain.retry() }
        report = try bench.domain.report()
        #expect(report.errors == 0 && report.reason == nil)
        #expect(try await bench.report(path).error == nil)
    }

    @Test func aListingThatFailsHalfwayDeletesNothing() async throws {
        let bench = try Bench()
        for index in 0..<10 { bench.store.write("\(index)", to: "f\(index)") }
        try await bench.settle()
        bench.store.pageSize = 3
        bench.store.expireAnchors()
        let asked = Locked(0)
        bench.store.setHooks(before: { (call) async throws(RemoteStoreError) in
            guard call.method == .enumerateItems else { return }
            let count = asked.withLock { count in
                count += 1
                return count
            }
            if count == 3 { throw .serverUnreachable }
        })
        try await bench.receive()
        #expect(asked.withLock { $0 } == 3)
        #expect(try bench.tree().count == 10)
        #expect(try bench.domain.report().state == .offline)
        try await bench.settle()
        #expect(try bench.tree().count == 10)
    }

    @Test func aReadOfADeletedFileFails() async throws {
        let bench = try Bench()
        bench.store.write("theirs", to: "x")
        try await bench.settle()
        bench.store.delete("x")
        let number = try bench.number("x")
        await #expect(throws: Errno.noSuchFileOrDirectory) { try await bench.engine.hydrate(number, range: nil) }
        // The store's feed shows whether it was rewritten under its name, or is gone.
        await bench.engine.receive()
        #expect(try bench.tree().isEmpty)
    }

    @Test func aReadOfAReplacedVersionIsStale() async throws {
        let bench = try Bench()
        bench.store.write("old", to: "x")
        try await bench.settle()
        bench.store.write("newer", to: "x")
        let number = try bench.number("x")
        await #expect(throws: Errno(rawValue: ESTALE)) { try await bench.engine.hydrate(number, range: nil) }
        // The current state was requested from the store: no signal is needed.
        await bench.engine.applyIncoming()
        #expect(try await bench.read("x") == "newer")
    }

    @Test func aDisconnectedDomainFailsAtOnce() async throws {
        let bench = try Bench()
        bench.store.write("theirs", to: "d/x")
        bench.store.write("top", to: "t")
        try await bench.settle()
        bench.store.clearCalls()
        try bench.domain.disconnect(reason: "on a train")
        let (folder, file) = (try bench.number("d"), try bench.number("t"))
        await #expect(throws: Errno.networkDown) { try await bench.engine.list(folder) }
        await #expect(throws: Errno.networkDown) { try await bench.engine.hydrate(file, range: nil) }
        try bench.write("ours", to: "y")
        try await bench.exchange()
        #expect(bench.store.calls.isEmpty)
        #expect(try bench.domain.report().state == .disconnected)
        #expect(try bench.domain.report().reason == "on a train")
        try bench.domain.connect()
        try await bench.settle()
        #expect(bench.store.text(at: "y") == "ours")
        #expect(try await bench.read("d/x") == "theirs")
    }
}
