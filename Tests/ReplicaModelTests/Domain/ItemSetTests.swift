import GRDB
import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import ReplicaModel

/// The feeds of the materialized and of the pending items (MODEL.md#sets).
@Suite struct ItemSetTests {
    /// All changes after an anchor, by path and by number, and the anchor after them.
    private func changes(
        _ bench: DomainBench, _ set: ItemSet, since anchor: SyncAnchor
    ) throws -> (entered: [String], left: [ItemSetChanges.Departure], anchor: SyncAnchor, batches: Int) {
        var (entered, left, anchor, batches) = ([String](), [ItemSetChanges.Departure](), anchor, 0)
        while true {
            let batch = try bench.domain.changes(of: set, since: anchor)
            entered += batch.entered.map { DomainBench.text($0.path) }
            left += batch.left
            (anchor, batches) = (batch.anchor, batches + 1)
            if !batch.moreComing { return (entered.sorted(), left, anchor, batches) }
        }
    }

    @Test func materializedItemsEnterAndLeaveTheSet() async throws {
        let store = MemoryStore()
        for name in ["one", "two"] { store.write(name, to: "d/\(name)") }
        try await DomainBench.run(store: store) { bench in
            try await bench.settle()
            let start = try bench.domain.anchor(of: .materialized)
            #expect(try changes(bench, .materialized, since: start).entered == [])
            #expect(try await bench.read("d/one") == "one")
            let first = try changes(bench, .materialized, since: start)
            #expect(first.entered == ["d", "d/one"] && first.left == [])
            #expect(try changes(bench, .materialized, since: first.anchor).entered == [])

            try await bench.restart()
            #expect(try await bench.read("d/two") == "two")
            let item = try await bench.item("d/one")
            _ = try await bench.domain.evict(DomainBench.names("d/one"), isStrict: true)
            let second = try changes(bench, .materialized, since: first.anchor)
            #expect(second.entered == ["d/two"])
            #expect(
                second.left == [
                    .init(number: item.number, identifier: item.identifier, path: DomainBench.names("d/one"))
                ])
            // An older anchor returns the same changes.
            let all = try changes(bench, .materialized, since: start)
            #expect(all.entered == ["d", "d/two"] && all.left == second.left)
            #expect(all.anchor == second.anchor)
        }
    }

    @Test func pendingItemsEnterAndLeaveTheSet() async throws {
        try await DomainBench.run { bench in
            try await bench.write("old", to: "old")
            try await bench.settle()
            let old = try await bench.item("old")
            let start = try bench.domain.anchor(of: .pending)
            let gate = HeldCalls()
            bench.store.setHooks(before: { call throws(RemoteStoreError) in
                if [.createItem, .deleteItem].contains(call.method) { try await gate.pass() }
            })
            try await bench.write("new", to: "new")
            try await bench.remove("old")
            let new = try await bench.item("new")
            let waiting = try changes(bench, .pending, since: start)
            #expect(waiting.entered == ["new", "old"] && waiting.left == [])
            gate.open()
            try await bench.settle()
            let sent = try changes(bench, .pending, since: waiting.anchor)
            #expect(sent.entered == [])
            #expect(
                sent.left.sorted { $0.number < $1.number } == [
                    .init(number: old.number, identifier: old.identifier),
                    .init(number: new.number, identifier: nil, path: DomainBench.names("new")),
                ])
        }
    }

    @Test func aLargeSetComesInBatches() async throws {
        try await DomainBench.run { bench in
            let start = try bench.domain.anchor(of: .pending)
            try bench.domain.disconnect(reason: "test")
            let names = (0..<600).map { "f\($0)" }.sorted()
            for name in names { try await bench.write("", to: name) }
            let all = try changes(bench, .pending, since: start)
            #expect(all.entered == names)
            #expect(all.batches == 3)
            #expect(try changes(bench, .pending, since: all.anchor).entered == [])
        }
    }

    @Test(arguments: ["", "nonsense", "1", "9.1", "-1.0"]) func anInvalidAnchorHasExpired(text: String) async throws {
        try await DomainBench.run { bench in
            for set in ItemSet.allCases {
                #expect(throws: RemoteStoreError.syncAnchorExpired) {
                    try bench.domain.changes(of: set, since: SyncAnchor(text))
                }
            }
        }
    }

    /// An anchor of another domain, or of the other set, is rejected.
    @Test func anotherHistorysAnchorHasExpired() async throws {
        try await DomainBench.run { other in
            try await DomainBench.run { bench in
                for either in [bench, other] {
                    try await either.write("one", to: "x")
                    for set in ItemSet.allCases { _ = try either.domain.anchor(of: set) }
                }
                let present = try bench.domain.anchor(of: .pending)
                for strange in [
                    try other.domain.anchor(of: .pending), try bench.domain.anchor(of: .materialized),
                ] {
                    #expect(strange != present)
                    #expect(throws: RemoteStoreError.syncAnchorExpired) {
                        try bench.domain.changes(of: .pending, since: strange)
                    }
                }
            }
        }
    }

    @Test func oldDeparturesAreDropped() async throws {
        try await DomainBench.run { bench in
            try bench.domain.disconnect(reason: "test")
            let start = try bench.domain.anchor(of: .pending)
            let history = ItemSetHistory(.pending, longest: 2)
            for round in 0..<4 {
                try await bench.write("", to: "f")
                try bench.replica.record()
                _ = try bench.replica.database.write { try history.catchUp(in: $0) }
                if round == 3 { break }
                try await bench.remove("f")
                try bench.replica.record()
                _ = try bench.replica.database.write { try history.catchUp(in: $0) }
            }
            #expect(throws: RemoteStoreError.syncAnchorExpired) {
                try bench.domain.changes(of: .pending, since: start)
            }
            let now = try bench.domain.anchor(of: .pending)
            #expect(try changes(bench, .pending, since: now).entered == [])
        }
    }

    /// A domain of an older version without such a history.
    @Test func anOlderDatabaseIsMigrated() async throws {
        try await DomainBench.run { bench in
            try await bench.write("one", to: "x")
            try await bench.settle()
            try bench.replica.database.write { rows in
                try rows.execute(
                    sql: """
                        DROP TABLE setHistory; DROP TABLE setLook;
                        DELETE FROM grdb_migrations WHERE identifier LIKE 'setHistory%'
                        """)
            }
            try await bench.restart()
            let start = try bench.domain.anchor(of: .materialized)
            #expect(try changes(bench, .materialized, since: start).entered == [])
            #expect(try await bench.read("x") == "one")
        }
    }
}
