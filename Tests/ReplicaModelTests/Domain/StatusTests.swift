import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import ReplicaModel

/// Reports, lists and events.
@Suite struct StatusTests {
    private func pending(_ bench: DomainBench) async throws -> [String] {
        var found: [String] = []
        try await bench.domain.forEach(in: .pending) { found += $0.map { DomainBench.text($0.path) } }
        return found.sorted()
    }

    private func materialized(_ bench: DomainBench) async throws -> [String] {
        var found: [String] = []
        try await bench.domain.forEach(in: .materialized) { found += $0.map { DomainBench.text($0.path) } }
        return found.sorted()
    }

    @Test func statement42_theMaterializedItemsAreThoseOnDisk() async throws {
        let store = MemoryStore()
        store.write("one", to: "d/one")
        store.write("two", to: "d/two")
        store.write("cold", to: "e/cold")
        try await DomainBench.run(store: store) { bench in
            try await bench.settle()
            #expect(try await materialized(bench) == [])
            #expect(try await bench.read("d/one") == "one")
            #expect(try await materialized(bench) == ["d", "d/one"])
        }
    }

    @Test func statement43_unsentItemsArePending() async throws {
        try await DomainBench.run { bench in
            try await bench.write("in step", to: "clean")
            try await bench.write("old", to: "gone")
            try await bench.settle()
            let gate = HeldCalls()
            bench.store.setHooks(before: { call throws(RemoteStoreError) in
                if [.createItem, .modifyItem, .deleteItem].contains(call.method) { try await gate.pass() }
            })
            try await bench.write("new", to: "new")
            try await bench.remove("gone")
            #expect(try await pending(bench) == ["gone", "new"])
            #expect(try bench.domain.report().pending == 2)
            gate.open()
            try await bench.settle()
            #expect(try await pending(bench) == [])
        }
    }

    @Test func countsFollowChanges() async throws {
        let store = MemoryStore()
        store.write(String(repeating: "x", count: 1000), to: "d/there")
        try await DomainBench.run(store: store) { bench in
            try await bench.write("12345", to: "here")
            try await bench.withItem("") { root in
                _ = try bench.replica.makeNode(
                    FileName("fifo"), in: root, mode: UInt32(S_IFIFO) | 0o600, device: 0, caller: DomainBench.caller)
            }
            try await bench.settle()
            _ = try await bench.item("d/there")
            var report = try bench.domain.report()
            #expect(report.items == 4)
            #expect(report.bytes == 1005)
            #expect(report.bytesHere == 5)
            #expect(report.localOnly == 1)
            #expect(report.state == .idle)
            #expect(report.uploads == nil && report.downloads == nil)
            _ = try await bench.read("d/there")
            #expect(try bench.domain.report().bytesHere == 1005)
            try await bench.remove("here")
            try await bench.settle()
            report = try bench.domain.report()
            #expect(report.items == 3)
            #expect(report.bytes == 1000)
            // The counts are the same as when all rows are counted.
            try await bench.restart()
            #expect(try bench.domain.report().bytesHere == 1000)
        }
    }

    @Test func progressCountsItemsAndBytes() async throws {
        try await DomainBench.run { bench in
            let gate = HeldCalls()
            bench.store.setHooks(before: { call throws(RemoteStoreError) in
                if call.template?.filename == FileName("slow") { try await gate.pass() }
            })
            try await bench.write("12345", to: "slow")
            try await bench.until("one is under way") { !bench.store.calls(of: .createItem).isEmpty }
            try await bench.write("123", to: "quick")
            try await bench.until("one is there") { bench.store.text(at: "quick") != nil }
            try await bench.until("one of two is done") { try bench.domain.report().pending == 1 }
            let uploads = try #require(try bench.domain.report().uploads)
            #expect(uploads.itemsDone == 1)
            #expect(uploads.itemsTotal == 2)
            #expect(uploads.bytesTotal == 8)
            #expect(uploads.bytesDone >= 3)
            gate.open()
            try await bench.settle()
            #expect(try bench.domain.report().uploads == nil)
        }
    }

    /// Between the store's answer and its record an item is sent, and still pending.
    @Test func anAnsweredItemIsCountedOnce() async throws {
        try await DomainBench.run { bench in
            let gate = HeldCalls()
            bench.store.setHooks(before: { call throws(RemoteStoreError) in
                if call.template?.filename == FileName("f") { try await gate.pass() }
            })
            try await bench.write("12345", to: "f")
            try await bench.until("it is under way") { !bench.store.calls(of: .createItem).isEmpty }
            let before = try #require(try bench.domain.report().uploads)
            #expect(before.itemsDone == 0 && before.itemsTotal == 1 && before.bytesTotal == 5)
            let (number, now) = (try await bench.item("f").number, bench.replica.now())
            bench.domain.engine.statistics.withLock { $0.answer(number, bytes: 5, now: now) }
            let after = try #require(try bench.domain.report().uploads)
            #expect(after.itemsDone == 1 && after.itemsTotal == 1 && after.bytesTotal == 5 && after.bytesDone == 5)
            gate.open()
            try await bench.settle()
        }
    }

    @Test func theStatusOfAnItemIsComplete() async throws {
        try await DomainBench.run { bench in
            try await bench.makeFolder("d")
            try await bench.write("text", to: "d/f")
            try await bench.settle()
            let item = try await bench.item("d/f")
            let there = try #require(bench.store.item(at: "d/f"))
            #expect(DomainBench.text(item.path) == "d/f")
            #expect(item.identifier == there.identifier)
            #expect(item.version == there.version)
            #expect(item.size == 4 && item.bytesHere == 4)
            #expect(item.kind == .file && item.pending == [] && !item.isPending)
            try await bench.withItem("d/f") { number in #expect(bench.domain.item(number) == item) }
            await #expect(throws: Errno.noSuchFileOrDirectory) { try await bench.item("d/no") }
            await #expect(throws: Errno.notDirectory) { try await bench.item("d/f/g") }
        }
    }

    @Test func listenersReceiveEvents() async throws {
        try await DomainBench.run { bench in
            try await bench.settle()
            let seen = Locked<[String]>([])
            let stream = bench.domain.events()
            let listener = Task {
                for await event in stream {
                    let path = event.path.map(DomainBench.text) ?? ""
                    let detail = event.kind == .state ? nil : event.detail
                    seen.withLock { $0.append("\(event.kind.rawValue) \(path)" + (detail.map { " \($0)" } ?? "")) }
                }
            }
            func until(_ line: String) async throws {
                try await bench.until(line) { seen.withLock { $0.contains(line) } }
            }
            try await bench.write("text", to: "f")
            try await until("localChange f")
            try await until("uploaded f")
            bench.store.write("theirs", to: "g")
            try await until("remoteChange g")
            _ = try await bench.read("g")
            try await until("downloaded g")
            _ = try await bench.domain.evict(DomainBench.names("g"), isStrict: true)
            try await until("evicted g")
            bench.store.delete("g")
            try await until("remoteDeletion g")
            try await bench.makeFolder("d")
            try await bench.rename("f", to: "d/h")
            try await until("localMove d/h from f")
            try await until("uploaded d/h")
            bench.store.move("d/h", to: "i")
            try await until("remoteMove i from d/h")
            try await bench.rename("i", to: "d/i")
            try await bench.remove("d/i")
            try await bench.remove("d", isFolder: true)
            try await until("localDeletion d/i")
            try await until("uploadedDeletion d")
            try await until("localDeletion d")
            // One that the store never has.
            try await bench.write("text", to: "short")
            try await bench.remove("short")
            try await until("localDeletion short")
            try await bench.settle()
            #expect(!seen.withLock { $0.contains { $0.hasPrefix("localChange d") && $0 != "localChange d" } })
            let isPlaced = { (line: String) in
                line.contains(" ") && !line.hasSuffix(" ") || ["state", "import"].contains { line.hasPrefix($0) }
                    || line.contains("Set")
            }
            #expect(seen.withLock { $0.filter { !isPlaced($0) } } == [])
            try bench.domain.disconnect(reason: "test")
            try await until("state ")
            try await bench.domain.stop()
            await listener.value
        }
    }
}
