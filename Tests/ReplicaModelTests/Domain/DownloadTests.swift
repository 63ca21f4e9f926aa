import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import ReplicaModel

/// requestDownloadForItem (MODEL.md#content).
@Suite struct DownloadTests {
    private static let names = DomainBench.names

    @Test func onlyTheRangeIsFetched() async throws {
        let store = MemoryStore()
        store.write([UInt8](repeating: 7, count: 1 << 20), to: "f")
        try await DomainBench.run(store: store) { bench in
            try await bench.settle()
            try await bench.domain.download(Self.names("f"), range: 300_000..<300_010, waits: true)
            let item = try await bench.item("f")
            #expect(item.materialization == .partial)
            #expect(item.bytesHere >= 10 && item.bytesHere < 1 << 20)
            try await bench.domain.download(Self.names("f"), waits: true)
            #expect(try await bench.item("f").materialization == .whole)
        }
    }

    @Test func aFolderIsListedOneLevelDeep() async throws {
        let store = MemoryStore()
        store.write("one", to: "d/one")
        store.write("two", to: "d/e/two")
        try await DomainBench.run(store: store) { bench in
            try await bench.settle()
            try await bench.domain.download(Self.names("d"), waits: true)
            #expect(try await bench.item("d").materialization == .whole)
            #expect(bench.exists("d/one") && bench.exists("d/e"))
            #expect(try await bench.item("d/one").materialization == .dataless)
            #expect(try await bench.item("d/e").materialization == .dataless)
        }
    }

    @Test func aRecursiveDownloadFetchesEverything() async throws {
        let store = MemoryStore()
        for name in ["d/one", "d/e/two", "d/e/f/three", "other"] { store.write("text", to: name) }
        try await DomainBench.run(store: store) { bench in
            try await bench.settle()
            let work = RequestProgress()
            let atFirstFetch = Locked<RequestProgress.Counts?>(nil)
            store.setHooks(before: { call throws(RemoteStoreError) in
                guard call.method == .fetchContents else { return }
                let counts = work.counts
                atFirstFetch.withLock { $0 = $0 ?? counts }
            })
            let done = try await bench.domain.downloadAll(below: Self.names("d"), waits: true, work: work)
            #expect(done.items == 6 && done.failed.isEmpty)
            // The totals are right before anything is fetched: the folders are listed first.
            let first = RequestProgress.Counts(items: 3, itemsTotal: 6, bytes: 0, bytesTotal: 12, isCounting: false)
            #expect(atFirstFetch.withLock { $0 } == first)
            #expect(
                work.counts
                    == RequestProgress.Counts(items: 6, itemsTotal: 6, bytes: 12, bytesTotal: 12, isCounting: false))
            for name in ["d/one", "d/e/two", "d/e/f/three"] {
                #expect(try await bench.item(name).materialization == .whole)
            }
            #expect(try await bench.item("other").materialization == .dataless)
        }
    }

    @Test func transfersInProgressAreAwaited() async throws {
        let store = MemoryStore()
        store.write([UInt8](repeating: 7, count: 1 << 20), to: "f")
        try await DomainBench.run(store: store) { bench in
            try await bench.settle()
            let gate = HeldCalls()
            let work = RequestProgress()
            store.setHooks(before: { call throws(RemoteStoreError) in
                if call.method == .fetchContents { try await gate.pass() }
            })
            let domain = bench.domain
            let download = Task { try await domain.download(Self.names("f"), waits: true, work: work) }
            try await bench.until("it is on its way") { try domain.report().downloads != nil }
            let identifier = try #require(try await bench.item("f").identifier)
            let now = bench.replica.now()
            domain.engine.statistics.withLock { $0.fetched(1000, of: identifier, now: now) }
            let report = try #require(work.report())
            #expect(report.itemsDone == 0 && report.itemsTotal == 1 && report.bytesTotal == 1 << 20)
            #expect(report.bytesDone == 1000 && !report.isCounting)
            gate.open()
            try await download.value
            #expect(work.report()?.bytesDone == 1 << 20)
        }
    }

    @Test func severalFilesAreFetchedConcurrently() async throws {
        let store = MemoryStore()
        for number in 0..<20 { store.write("text \(number)", to: "d/f\(number)") }
        try await DomainBench.run(store: store) { bench in
            try await bench.settle()
            let (gate, underWay) = (HeldCalls(), Locked(0))
            defer { gate.open() }
            store.setHooks(before: { call throws(RemoteStoreError) in
                guard call.method == .fetchContents else { return }
                underWay.withLock { $0 += 1 }
                try await gate.pass()
            })
            let (domain, work) = (bench.domain, RequestProgress())
            let download = Task { try await domain.downloadAll(below: Self.names("d"), waits: true, work: work) }
            // Two are left to programs.
            let most = store.properties.concurrency - 2
            try await bench.until("many are under way") { underWay.withLock { $0 } >= most }
            try await Task.sleep(for: .milliseconds(200))
            #expect(underWay.withLock { $0 } == most)
            #expect(work.report()?.itemsDone == 1)
            gate.open()
            #expect(try await download.value.items == 21)
            #expect(work.counts.items == 21)
            for number in 0..<20 { #expect(try await bench.item("d/f\(number)").materialization == .whole) }
        }
    }

    @Test func aFailedFileDoesNotStopTheOthers() async throws {
        let store = MemoryStore()
        for name in ["d/a", "d/b", "d/c"] { store.write("text of \(name)", to: name) }
        try await DomainBench.run(store: store) { bench in
            try await bench.settle()
            try await bench.domain.download(Self.names("d"), waits: true)
            let refused = try await bench.item("d/b").identifier
            store.setHooks(before: { call throws(RemoteStoreError) in
                if call.method == .fetchContents, call.identifier == refused { throw .cannotSynchronize("test") }
            })
            let done = try await bench.domain.downloadAll(below: Self.names("d"), waits: true)
            #expect(done.items == 3)
            #expect(done.failed.map { DomainBench.text($0.path) } == ["d/b"])
            for name in ["d/a", "d/c"] { #expect(try await bench.item(name).materialization == .whole) }
            #expect(try await bench.item("d/b").materialization == .dataless)
        }
    }

    @Test func withoutWaitingADownloadRunsInTheBackground() async throws {
        let store = MemoryStore()
        store.write("text", to: "f")
        try await DomainBench.run(store: store) { bench in
            try await bench.settle()
            let gate = HeldCalls()
            store.setHooks(before: { call throws(RemoteStoreError) in
                if call.method == .fetchContents { try await gate.pass() }
            })
            try await bench.domain.download(Self.names("f"), waits: false)
            try await bench.until("the fetch is under way") { try bench.domain.report().downloads?.itemsTotal == 1 }
            #expect(try await bench.item("f").transfer == ItemTransfer(isUpload: false, done: 0, size: 4))
            gate.open()
            try await bench.until("it is here") { try await bench.item("f").materialization == .whole }
        }
    }

    @Test func downloadingAMissingItemIsAnError() async throws {
        try await DomainBench.run { bench in
            await #expect(throws: Errno.noSuchFileOrDirectory) {
                try await bench.domain.download(Self.names("no"), waits: true)
            }
            bench.store.write("text", to: "f")
            try await bench.settle()
            try bench.domain.disconnect(reason: "test")
            await #expect(throws: Errno.networkDown) {
                try await bench.domain.download(Self.names("f"), waits: false)
            }
        }
    }

    @Test func bytesOfAnEvictedFileNeverCountAsLocal() async throws {
        let store = MemoryStore()
        store.write([UInt8](repeating: 7, count: 400_000), to: "f")
        try await DomainBench.run(store: store) { bench in
            try await bench.settle()
            let target = try await bench.withItem("f") { number in
                try bench.replica.fetchTarget(number, range: 0..<10)
            }
            let fetch = try #require(target)
            let file = try bench.replica.openForFetch(fetch)
            defer { close(file) }
            _ = try bench.replica.fill(0..<1000, of: fetch, to: file) {}
            #expect(try await bench.domain.evict(Self.names("f"), isStrict: true).items == 1)
            #expect(throws: ReplicaError.errno(Errno(rawValue: 116))) {
                try bench.replica.fill(1000..<2000, of: fetch, to: file) {}
            }
            #expect(try await bench.item("f").bytesHere == 0)
        }
    }
}
