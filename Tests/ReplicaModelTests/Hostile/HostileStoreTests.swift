import Foundation
import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import ReplicaModel
@testable import Threads

/// A store with invalid answers, at each position where an item can occur: nothing local is lost, no byte is written
/// outside, and the other items continue.
@Suite(.serialized) struct HostileStoreTests {
    @Test func enoughForgeriesAreTested() {
        #expect(Forgery.all.count >= 250)
    }

    /// If a page contains an item twice, the first one counts.
    @Test func ofTwoEqualIdentifiersInAPageTheFirstCounts() async throws {
        let trial = try Trial()
        trial.store.memory.write("one", to: "one")
        trial.store.answer {
            $0.page = { page, _ in
                let again = page.items.map { item in item.with { $0.filename = FileName("z\(item.filename)") } }
                return ItemPage(items: page.items + again, next: page.next)
            }
        }
        try await trial.bench.settle()
        #expect(Set(try trial.bench.tree().keys) == ["good", "one"])
    }

    @Test func invalidItemsInTheFirstListingAreRejected() async throws {
        let trial = try Trial()
        for name in trial.names { trial.store.memory.write(name, to: name) }
        trial.lie()
        try await trial.exchange()
        try await trial.endsWell()
    }

    @Test func invalidItemsInTheFeedAreRejected() async throws {
        let trial = try Trial()
        try await trial.bench.settle()
        trial.lie()
        for name in trial.names { trial.store.memory.write(name, to: name) }
        try await trial.exchange()
        try await trial.endsWell()
    }

    @Test func invalidUpdatesAreRejected() async throws {
        let trial = try Trial()
        for name in trial.names { trial.store.memory.write("old", to: name) }
        try await trial.bench.settle()
        for name in trial.names { #expect(try await trial.bench.read(name) == "old") }
        trial.lie()
        for name in trial.names { trial.store.memory.write(name, to: name) }
        try await trial.exchange()
        try await trial.endsWell()
    }

    @Test func invalidAnswersToACreateAreRejected() async throws {
        let trial = try Trial()
        try await trial.bench.settle()
        trial.lie()
        for name in trial.names { try trial.bench.write(name, to: name) }
        try await trial.exchange()
        try await trial.endsWell()
    }

    @Test func invalidAnswersToAModifyAreRejected() async throws {
        let trial = try Trial()
        for name in trial.names { try trial.bench.write("old", to: name) }
        try await trial.bench.settle()
        trial.lie()
        for name in trial.names { try trial.bench.write(name, to: name) }
        try await trial.exchange()
        try await trial.endsWell()
    }
}

/// A domain with a file of each side in addition to the forged ones, one for each forgery.
private struct Trial {
    let store = HostileStore()
    let bench: Bench
    private let forgeries: [String: Forgery]
    var names: [String] { forgeries.keys.sorted() }

    init() throws {
        let named = Forgery.all.enumerated().map { ("bad\($0.offset)", $0.element) }
        forgeries = Dictionary(uniqueKeysWithValues: named)
        bench = try Bench(store: store.memory, through: store)
        store.memory.write("good", to: "good")
    }

    /// Forges these items from now on.
    func lie() {
        let forgeries = forgeries
        let forge: @Sendable (Item) -> Item = { item in
            forgeries[item.filename.description].map { item.with($0.change) } ?? item
        }
        store.answer { answers in
            answers.item = forge
            answers.page = { page, _ in ItemPage(items: page.items.map(forge), next: page.next) }
            answers.batch = { batch in
                var batch = batch
                batch.updated = batch.updated.map(forge)
                return batch
            }
            answers.create = { result in StoreResult(item: result.item.map(forge)) }
            answers.modify = { result in StoreResult(item: result.item.map(forge)) }
            answers.created = { $0.map(forge) }
        }
    }

    /// Other items are synced in both directions meanwhile.
    func exchange() async throws {
        try await bench.receive()
        try bench.write("mine", to: "mine")
        for _ in 0..<2 {
            bench.pass(400)
            try await bench.receive()
            try await bench.send()
        }
        #expect(bench.engine.state.withLock { $0.storeFailure } == nil)
        #expect(store.memory.entries.values.contains { $0.content == Array("mine".utf8) })
        #expect(try bench.domain.report().errors > 0)
    }

    /// The store is correct again: all writes of both sides are complete in it, and nothing else is here.
    func endsWell() async throws {
        let around = try FileManager.default.contentsOfDirectory(
            atPath: bench.folders.root.removingLastComponent().string)
        #expect(Set(around).isSubset(of: ["state", "source"]))
        store.repent()
        for _ in 0..<6 {
            bench.pass(400)
            try await bench.receive()
            try await bench.send()
        }
        let there = Set(store.memory.entries.values.map { String(decoding: $0.content, as: UTF8.self) })
        var here: Set<String> = []
        for entry in try bench.replica.entries(of: .root) where entry.type == .file {
            // An unreadable entry is missing below.
            if let text = try? await bench.read(entry.name.description) { here.insert(text) }
        }
        for text in names + ["good", "mine"] {
            let forgery = forgeries[text]?.testDescription ?? ""
            #expect(there.contains(text), "\(text) is lost in the store: \(forgery)")
        }
        // An accepted forgery, such as another name, is not corrected by itself; but any content that can be read is a
        // real one.
        #expect(here.isSuperset(of: ["good", "mine"]))
        #expect(here.isSubset(of: names + ["good", "mine", "old"]))
    }
}
