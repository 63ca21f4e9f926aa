import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import ReplicaModel

/// Calls that a store never answers end in bounded time, on a manual clock, and nothing is lost or doubled.
@Suite struct SilentStoreTests {
    /// A bench in sync with `d/x` and `y`, and an engine that works as in a daemon.
    private static func silent() async throws -> (Bench, SilentStore, SyncEngine) {
        let store = SilentStore()
        store.memory.write("theirs", to: "d/x")
        store.memory.write("ours", to: "y")
        let bench = try Bench(store: store.memory, through: store)
        try await bench.settle()
        let number = try bench.number("d")
        try await bench.engine.list(number)
        let engine = bench.engine { $0.isSequential = false }
        return (bench, store, engine)
    }

    /// Lets time pass until `body` has ended.
    /// - Returns: Its error, and how many seconds it took on the manual clock; nil if it did not end within `most`.
    private static func time(
        _ bench: Bench, _ engine: SyncEngine, most: Double = 5_000,
        _ body: @escaping @Sendable () async throws -> Void
    ) async throws -> (seconds: Double, error: (any Error)?)? {
        let outcome = Locked<Result<Void, any Error>?>(nil)
        Task {
            let ended: Result<Void, any Error>
            do { ended = .success(try await body()) } catch { ended = .failure(error) }
            outcome.withLock { $0 = ended }
        }
        let begin = bench.clock.withLock { $0 }
        let end = ContinuousClock.now + eventLimit
        while true {
            // Whatever is not blocked continues.
            try await Task.sleep(for: .milliseconds(8))
            let passed = bench.clock.withLock { $0 } - begin
            switch outcome.withLock({ $0 }) {
            case .success?: return (passed, nil)
            case .failure(let error)?: return (passed, error)
            case nil: break
            }
            guard passed < most, ContinuousClock.now < end else { return nil }
            // Time passes only during a call, so that a slow machine takes none of it.
            guard engine.callTimeouts.isWaiting else { continue }
            bench.pass(10)
            engine.callTimeouts.check()
        }
    }

    /// In seconds.
    private static func limit(_ kind: SilentStore.Kind) -> Double {
        switch kind {
        case .fetchContents: 60
        // A server that copies, or a storage that is compared, shows no progress for long.
        case .createItem, .itemCreated, .modifyItem, .deleteItem, .enumerateChanges: 3_600
        default: 300
        }
    }

    /// Makes a call in the place of a sender, and waits for it or its end.
    private static func change(
        _ engine: SyncEngine, _ identifier: ItemIdentifier, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        let (ends, end) = AsyncThrowingStream<Void, any Error>.makeStream()
        let sender = Sender()
        let key = CallTimeouts.Key(kind: .change, identifier: identifier)
        sender.start(on: nil) {
            do {
                let answer: Void? = try await engine.callTimeouts.callInPlace(
                    key, sender.progress, cancel: { sender.cancel() }, abandon: { end.finish(throwing: $0) },
                    body: { () async throws(RemoteStoreError) in
                        do {
                            try await body()
                        } catch {
                            throw error as? RemoteStoreError ?? .cannotSynchronize("\(error)")
                        }
                    })
                if answer != nil { end.finish() }
            } catch {
                end.finish(throwing: error)
            }
        }
        for try await _ in ends {}
    }

    private static func template(_ name: String, _ kind: ItemKind) -> ItemTemplate {
        ItemTemplate(identifier: ItemIdentifier(name), parent: .root, filename: FileName(name), kind: kind)
    }

    private static let errors: [SilentStore.Kind: RemoteStoreError] = [
        .item: .unanswered, .enumerateItems: .unanswered, .fetchContents: .unanswered, .createItem: .unanswered,
        .itemCreated: .unanswered, .modifyItem: .unanswered, .deleteItem: .unanswered,
        .currentAnchor: .serverUnreachable, .enumerateChanges: .serverUnreachable, .recognize: .serverUnreachable,
        .makeDurable: .serverUnreachable, .usage: .serverUnreachable,
    ]

    @Test(arguments: SilentStore.Kind.allCases, [1, 3])
    func eachCallEnds(kind: SilentStore.Kind, number: Int) async throws {
        let (bench, silent, engine) = try await Self.silent()
        let store = engine.store
        let item = try #require(silent.memory.item(at: "y"))
        let made = Locked(0)
        let call: @Sendable () async throws -> Void = {
            switch kind {
            case .item: _ = try await store.item(item.identifier)
            case .enumerateItems: _ = try await store.enumerateItems(in: .root, from: nil)
            case .currentAnchor: _ = try await store.currentAnchor()
            case .enumerateChanges: _ = try await store.enumerateChanges(from: try await silent.memory.currentAnchor())
            case .recognize: try await store.recognize(try await silent.memory.currentAnchor())
            case .makeDurable: try await store.makeDurable()
            case .usage: _ = try await store.usage()
            case .importDidFinish: await store.importDidFinish()
            case .fetchContents:
                _ = try await store.fetchContents(of: item.identifier, version: nil, range: nil, into: NoSink())
            case .createItem:
                let name = made.withLock { made in
                    made += 1
                    return "n\(made)"
                }
                let template = Self.template(name, .folder)
                try await Self.change(engine, template.identifier) {
                    _ = try await store.createItem(basedOn: template, fields: .place, contents: nil, options: [])
                }
            case .itemCreated:
                let template = Self.template("y", .file)
                try await Self.change(engine, template.identifier) { _ = try await store.itemCreated(from: template) }
            case .modifyItem:
                let template = ItemTemplate(
                    identifier: item.identifier, parent: .root, filename: FileName("y"), kind: .file)
                try await Self.change(engine, item.identifier) {
                    _ = try await store.modifyItem(
                        template, base: item.version, changedFields: .filename, contents: nil)
                }
            case .deleteItem:
                try await Self.change(engine, item.identifier) {
                    try await store.deleteItem(item.identifier, base: item.version)
                }
            }
        }
        silent.fallSilent(at: kind, number: number)
        for _ in 1..<number { #expect(try await Self.time(bench, engine, call)?.error == nil) }
        let ended = try #require(try await Self.time(bench, engine, call))
        #expect(ended.error as? RemoteStoreError == Self.errors[kind])
        // The limit, and the time after it in which the call may still end.
        let limit = Self.limit(kind)
        #expect((limit...limit + 20).contains(ended.seconds), "\(ended.seconds)")
        #expect(silent.hung == 1 && engine.callTimeouts.hasAbandonedCalls)
        // Meanwhile the call is not made a second time.
        if Self.errors[kind] != nil {
            let again = try #require(try await Self.time(bench, engine, call))
            // A create has another item each time.
            if kind != .createItem {
                #expect(again.error as? RemoteStoreError == Self.errors[kind] && again.seconds == 0)
            }
        }
        silent.speak()
        try await bench.until("it has ended") { !engine.callTimeouts.hasAbandonedCalls }
        #expect(try await Self.time(bench, engine, call)?.error == nil)
    }

    private static func isSent(
        _ bench: Bench, _ engine: SyncEngine, _ what: String, _ isTrue: () -> Bool
    ) async throws {
        let isSent = try await eventually {
            if isTrue() { return true }
            bench.pass(5)
            engine.callTimeouts.check()
            _ = await engine.send()
            return isTrue()
        }
        #expect(isSent, "never: \(what)")
    }

    /// A create that hangs holds neither the sender nor the others. When it ends at last, the item is recognized.
    @Test func aHungCreateBlocksAndDuplicatesNothing() async throws {
        let (bench, silent, engine) = try await Self.silent()
        silent.memory.properties.concurrency = 1
        engine.takeProperties()
        silent.fallSilent(at: .createItem)
        try bench.write("first", to: "a")
        try await Self.isSent(bench, engine, "it hangs") { silent.hung == 1 }
        for index in 0..<5 { try bench.write("\(index)", to: "b\(index)") }
        try await Self.isSent(bench, engine, "all others are sent") { silent.memory.entries.count == 8 }
        #expect(try await bench.report("a").error?.code == "unanswered")
        #expect(try bench.domain.report().state != .offline)
        // What others create is received meanwhile.
        #expect(!bench.replica.hasUnansweredCalls)
        // Other contents are sent meanwhile: those of the call that hangs must stay what they are.
        silent.speak()
        try await bench.until("it has ended") { !engine.callTimeouts.hasAbandonedCalls }
        #expect(silent.memory.text(at: "a") == "first")
        engine.retryAll()
        try await Self.isSent(bench, engine, "it is recognized") { silent.memory.calls(of: .itemCreated).count == 1 }
        try await bench.settle()
        #expect(try bench.tree().keys.sorted() == ["a", "b0", "b1", "b2", "b3", "b4", "d/", "d/x", "y"])
        #expect(silent.memory.entries.count == 9 && silent.memory.calls(of: .createItem).count == 6)
    }

    /// A sender that is left has begun calls for others: they are made by the next one. The calls that hang keep what they
    /// send, and are not answered into the items' later life.
    @Test func hungCallsDoNotBlockTheirBatch() async throws {
        let (bench, silent, engine) = try await Self.silent()
        silent.memory.properties.concurrency = 1
        engine.takeProperties()
        let names = (0..<40).map { "f\($0)" }
        for name in names { try bench.write(name, to: name) }
        silent.fallSilent(at: .createItem, number: 30)
        try await Self.isSent(bench, engine, "all but one are sent") { silent.memory.entries.count == 42 }
        #expect(silent.hung == 1)
        silent.speak()
        try await bench.until("it has ended") { !engine.callTimeouts.hasAbandonedCalls }
        engine.retryAll()
        try await Self.isSent(bench, engine, "it is recognized") { silent.memory.calls(of: .itemCreated).count == 1 }
        try await bench.settle()
        for name in names { #expect(silent.memory.text(at: name) == name) }
        #expect(silent.memory.calls(of: .createItem).count == names.count)
        try await Self.sendersEnd(bench, engine)
    }

    private static func sendersEnd(_ bench: Bench, _ engine: SyncEngine) async throws {
        try await bench.until("the senders have ended") {
            engine.uploadQueue.withLock { $0.workers == 0 && $0.inFlight == 0 }
        }
    }

    /// A call that ends when it is cancelled is an answer like any other, and its sender cancels nothing else.
    @Test(arguments: SilentStore.Outcome.allCases, [SilentStore.Kind.modifyItem, .deleteItem])
    func aCallThatEndsOnCancellationKeepsItsResult(
        outcome: SilentStore.Outcome, kind: SilentStore.Kind
    ) async throws {
        let (bench, silent, engine) = try await Self.silent()
        silent.memory.properties.concurrency = 1
        engine.takeProperties()
        silent.fallSilent(at: kind, whenCancelled: outcome)
        if kind == .modifyItem { try bench.write("newer", to: "y") } else { try bench.remove("y") }
        try await Self.isSent(bench, engine, "it hangs") { silent.hung == 1 }
        for index in 0..<5 { try bench.write("\(index)", to: "b\(index)") }
        try await Self.isSent(bench, engine, "all others are sent") {
            (0..<5).allSatisfy { silent.memory.text(at: "b\($0)") == "\($0)" }
        }
        let expected = kind == .modifyItem ? "newer" : nil
        try await Self.isSent(bench, engine, "it is sent") { silent.memory.text(at: "y") == expected }
        try await Self.sendersEnd(bench, engine)
        #expect(!engine.callTimeouts.hasAbandonedCalls && engine.state.withLock { $0.storeFailure == nil })
        try await bench.settle()
        #expect(try bench.tree().keys.contains("y") == (kind == .modifyItem))
    }

    /// A call may end just when it is left: what comes next is done once.
    @Test func aSenderIsReplacedOnce() async throws {
        let sender = Sender()
        let call = OutgoingCall(
            number: ItemNumber(7), call: .resolve, template: Self.template("y", .file), fields: [],
            parent: .root)
        sender.begin([call, call])
        _ = sender.next()
        sender.stop()
        #expect(sender.isAbandoned && sender.isGivenUp && sender.next() == nil)
        #expect(sender.abandon().count == 1 && sender.abandon().isEmpty)
    }

    /// A call that ends while it is being left is either answered or left, never both.
    @Test func aCallIsAnsweredOrAbandoned() async throws {
        for _ in 0..<50 {
            let clock = Locked(0.0, rank: .innermost)
            let watch = CallTimeouts(answer: 1, stall: 1, now: { clock.withLock { $0 } })
            let (begun, answered, left) = (Locked(0), Locked(0), Locked(0))
            let gates = (0..<8).map { _ in WakeSignal() }
            let tasks = gates.enumerated().map { index, gate in
                Task {
                    let value: Void? = try await watch.callInPlace(
                        .init(kind: .item, identifier: ItemIdentifier("\(index)")), CallTimeouts.Progress(), cancel: {},
                        // The first that is left lets all others end.
                        abandon: { _ in
                            left.withLock { $0 += 1 }
                            for gate in gates { gate.signal() }
                        },
                        body: { () async throws(RemoteStoreError) in
                            begun.withLock { $0 += 1 }
                            await gate.wait(since: 0, until: nil, now: { 0 })
                        })
                    if value != nil { answered.withLock { $0 += 1 } }
                }
            }
            while begun.withLock({ $0 }) < 8 { try await Task.sleep(for: .milliseconds(1)) }
            for _ in 0..<2 {
                clock.withLock { $0 += 10 }
                watch.check()
            }
            for task in tasks { try await task.value }
            #expect(left.withLock { $0 } == 8 && answered.withLock { $0 } == 0)
            #expect(!watch.hasAbandonedCalls)
        }
    }

    /// Calls that hang by the dozen are not made by the dozen: those of a directory store each keep a thread.
    @Test func afterSeveralHungCallsNoneIsMade() async throws {
        let (bench, silent, engine) = try await Self.silent()
        silent.memory.properties.concurrency = 4
        engine.takeProperties()
        silent.fallSilent(at: .createItem, isForEver: true)
        for index in 0..<30 { try bench.write("\(index)", to: "f\(index)") }
        try await bench.until("several calls hang") {
            bench.pass(100)
            engine.callTimeouts.check()
            _ = await engine.send()
            return silent.hung >= CallTimeouts.mostAbandoned && engine.callTimeouts.hasAbandonedCalls
        }
        let item = try #require(silent.memory.item(at: "y"))
        for _ in 0..<200 {
            bench.pass(100)
            engine.callTimeouts.check()
            _ = await engine.send()
            try await Task.sleep(for: .milliseconds(2))
        }
        // Those in flight at the time may hang as well.
        #expect(
            silent.hung >= CallTimeouts.mostAbandoned && silent.hung < CallTimeouts.mostAbandoned + 4, "\(silent.hung)")
        // Reading goes on.
        _ = try await engine.store.item(item.identifier)
        #expect(engine.state.withLock { $0.storeFailure?.code } == "unanswered")
        silent.speak()
        try await bench.until("they have ended") { !engine.callTimeouts.hasAbandonedCalls }
        engine.retryAll()
        try await Self.isSent(bench, engine, "all are sent") { silent.memory.entries.count == 33 }
        try await bench.settle()
        #expect(silent.memory.calls(of: .createItem).count == 30)
    }

    /// A folder whose listing hangs is listed later; the changes of the others arrive.
    @Test func aHungListingBlocksNoOther() async throws {
        let (bench, silent, engine) = try await Self.silent()
        silent.memory.write("new", to: "e/z")
        silent.memory.expireAnchors()
        silent.fallSilent(at: .enumerateItems, number: 2)
        engine.askNow()
        let ended = try #require(try await Self.time(bench, engine) { await engine.receive() })
        #expect(ended.seconds >= 300)
        #expect(try bench.tree()["e/"] != nil && silent.hung == 1)
        silent.speak()
        try await bench.settle()
        #expect(try await bench.read("d/x") == "theirs")
    }

    /// What is slow, and not silent for ever, ends in the end: the limit grows with each attempt.
    @Test func aSlowCallCompletes() async throws {
        let (bench, silent, engine) = try await Self.silent()
        let store = engine.store
        var limits: [Double] = []
        for _ in 0..<3 {
            silent.fallSilent(at: .currentAnchor)
            let ended = try #require(try await Self.time(bench, engine) { _ = try await store.currentAnchor() })
            limits.append(ended.seconds)
            silent.speak()
            try await bench.until("it has ended") { !engine.callTimeouts.hasAbandonedCalls }
        }
        #expect(limits[1] >= 600 && limits[2] >= 1_200, "\(limits)")
    }

    /// What a change that still runs will do is not known: the item's state now says nothing about it.
    @Test func anItemWithAHungChangeIsNotQueried() async throws {
        let (bench, silent, engine) = try await Self.silent()
        let store = engine.store
        let item = try #require(silent.memory.item(at: "y"))
        silent.fallSilent(at: .deleteItem)
        let ended = try #require(
            try await Self.time(bench, engine) {
                try await Self.change(engine, item.identifier) {
                    try await store.deleteItem(item.identifier, base: item.version)
                }
            })
        #expect(ended.error as? RemoteStoreError == .unanswered)
        await #expect(throws: RemoteStoreError.unanswered) { try await store.item(item.identifier) }
        silent.speak()
        try await bench.until("it has ended") { !engine.callTimeouts.hasAbandonedCalls }
        await #expect(throws: RemoteStoreError.noSuchItem(item.identifier)) { try await store.item(item.identifier) }
    }

    /// The end of a domain waits less for a store, and not at all for one that is known to hang.
    @Test func stoppingADomainWaitsLess() async throws {
        let (bench, silent, engine) = try await Self.silent()
        let store = engine.store
        await engine.pull()
        engine.callTimeouts.limitSilence(seconds: 30)
        silent.fallSilent(at: .currentAnchor)
        let ended = try #require(try await Self.time(bench, engine) { _ = try await store.currentAnchor() })
        #expect(ended.seconds < 60)
        silent.fallSilent(at: .makeDurable)
        try bench.write("more", to: "z")
        try bench.replica.record()
        await engine.makeDurableIfPossible()
        #expect(silent.count(of: .makeDurable) == 0)
        silent.speak()
        try await bench.until("it has ended") { !engine.callTimeouts.hasAbandonedCalls }
        await engine.makeDurableIfPossible()
        #expect(silent.count(of: .makeDurable) == 1)
    }

    /// Bytes that come after the caller has gone go nowhere: its file may be another one by then.
    @Test func lateBytesAreDropped() async throws {
        let (bench, silent, engine) = try await Self.silent()
        let store = engine.store
        let item = try #require(silent.memory.item(at: "y"))
        let sink = NoSink()
        silent.fallSilent(at: .fetchContents)
        let ended = try #require(
            try await Self.time(bench, engine) {
                _ = try await store.fetchContents(of: item.identifier, version: nil, range: nil, into: sink)
            })
        #expect(ended.error as? RemoteStoreError == .unanswered)
        silent.speak()
        try await bench.until("it has ended") { !engine.callTimeouts.hasAbandonedCalls }
        #expect(sink.count == 0)
    }

    /// A transfer that makes progress is never given up.
    @Test func aCallWithProgressDoesNotTimeOut() async throws {
        let clock = Locked(0.0, rank: .innermost)
        let watch = CallTimeouts(answer: 300, stall: 60, now: { clock.withLock { $0 } })
        let progress = CallTimeouts.Progress()
        let parts = try await watch.call(.init(kind: .change, identifier: nil), progress, on: nil) {
            () async throws(RemoteStoreError) -> Int in
            for _ in 0..<20 {
                clock.withLock { $0 += 200 }
                watch.hear(progress)
                watch.check()
            }
            return 20
        }
        #expect(parts == 20 && !watch.hasAbandonedCalls)
    }

    /// Who gave up reading may read again at once, also while the store still reads.
    @Test func aCancelledReadDoesNotAffectTheNext() async throws {
        let (bench, silent, engine) = try await Self.silent()
        let store = engine.store
        let item = try #require(silent.memory.item(at: "y"))
        silent.fallSilent(at: .fetchContents)
        let fetch: @Sendable () async throws -> Void = {
            _ = try await store.fetchContents(of: item.identifier, version: nil, range: nil, into: NoSink())
        }
        let reader = Task { try await fetch() }
        try await bench.until("it reads") { silent.hung == 1 }
        reader.cancel()
        let ended = try #require(try await Self.time(bench, engine) { try await reader.value })
        #expect(ended.seconds < Self.limit(.fetchContents) && ended.error as? RemoteStoreError == .cancelled)
        #expect(try await Self.time(bench, engine, fetch)?.error == nil)
        silent.speak()
    }

    /// A domain ends although its feed and its sync never answer.
    @Test(arguments: [SilentStore.Kind.enumerateChanges, .makeDurable, .recognize]) func aDomainStopsDespiteHungCalls(
        kind: SilentStore.Kind
    ) async throws {
        let store = SilentStore()
        store.memory.write("theirs", to: "x")
        let own = try BenchFolder()
        try own.state.makeDomain()
        var options = DomainOptions()
        (options.answerTimeoutSeconds, options.stallTimeoutSeconds) = (0.2, 0.2)
        let domain = try Domain.open(own.state, store: store, options: options, log: DomainBench.quiet)
        domain.start()
        #expect(try await eventually { (try? await domain.list(.root)) != nil })
        store.fallSilent(at: kind)
        store.memory.write("more", to: "y")
        store.memory.signal()
        if kind != .recognize { #expect(try await eventually { store.hung > 0 }) }
        let isStopped = Locked(false)
        Task {
            try await domain.stop()
            isStopped.withLock { $0 = true }
        }
        #expect(try await eventually { isStopped.withLock { $0 } })
    }
}

/// Counts what it receives.
private final class NoSink: ContentSink {
    private let received = Locked(0)

    var count: Int { received.withLock { $0 } }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(RemoteStoreError) {
        received.withLock { $0 += bytes.count }
    }
}
