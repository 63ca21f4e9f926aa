import Foundation
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import ReplicaModel

/// Conflicts are listed and resolved (MODEL.md#conflicts).
@Suite struct ConflictTests {
    /// A file that both sides changed.
    private func withConflict(_ body: (DomainBench, Conflict) async throws -> Void) async throws {
        try await DomainBench.run { bench in
            try await bench.makeFolder("d")
            try await bench.write("base", to: "d/f.txt")
            try await bench.settle()
            try bench.domain.disconnect(reason: "test")
            try await bench.write("ours", to: "d/f.txt")
            bench.store.write("theirs", to: "d/f.txt")
            try bench.domain.connect()
            try await bench.settle()
            let conflicts = try bench.domain.conflicts()
            #expect(conflicts.count == 1)
            try await body(bench, try #require(conflicts.first))
        }
    }

    private func texts(_ bench: DomainBench) -> [String] {
        bench.store.entries.values.filter { $0.item.kind == .file }
            .map { String(decoding: $0.content, as: UTF8.self) }.sorted()
    }

    @Test func bothSidesAreListed() async throws {
        try await withConflict { bench, conflict in
            #expect(conflict.original.map(DomainBench.text) == "d/f.txt")
            #expect(DomainBench.text(conflict.copy).hasPrefix("d/f (conflict "))
            #expect(try bench.domain.report().conflicts == 1)
            #expect(try await bench.item(DomainBench.text(conflict.copy)).isConflict)
            // It is still one after a restart, and after a rename.
            try await bench.rename(DomainBench.text(conflict.copy), to: "mine")
            try await bench.restart()
            #expect(try bench.domain.conflicts().map(\.copy) == [DomainBench.names("mine")])
        }
    }

    @Test(arguments: [true, false]) func keepingTheLocalSideGivesItTheName(isByCopy: Bool) async throws {
        try await withConflict { bench, conflict in
            let path = isByCopy ? conflict.copy : DomainBench.names("d/f.txt")
            try await bench.domain.resolve(path, keep: .local)
            try await bench.settle()
            #expect(bench.store.text(at: "d/f.txt") == "ours")
            #expect(texts(bench) == ["ours"])
            #expect(try await bench.read("d/f.txt") == "ours")
            #expect(try bench.domain.conflicts() == [])
        }
    }

    /// Programs save by writing another file and renaming it over the original, which then has another identifier there.
    @Test(arguments: [true, false]) func aSaveInTheStoreKeepsTheConflict(isRestarted: Bool) async throws {
        try await withConflict { bench, conflict in
            if isRestarted { try await bench.restart() }
            bench.store.write("again", to: "d/new")
            bench.store.move("d/new", to: "d/f.txt")
            try await bench.settle()
            #expect(try bench.domain.conflicts().map(\.original) == [DomainBench.names("d/f.txt")])
            try await bench.domain.resolve(conflict.copy, keep: .local)
            try await bench.settle()
            #expect(bench.store.text(at: "d/f.txt") == "ours" && texts(bench) == ["ours"])
        }
    }

    @Test(arguments: [true, false]) func keepingTheStoresSideRemovesTheLocalOne(isByCopy: Bool) async throws {
        try await withConflict { bench, conflict in
            let path = isByCopy ? conflict.copy : DomainBench.names("d/f.txt")
            try await bench.domain.resolve(path, keep: .remote)
            try await bench.settle()
            #expect(texts(bench) == ["theirs"])
            #expect(try await bench.read("d/f.txt") == "theirs")
            #expect(try bench.domain.conflicts() == [])
            let below = bench.folders.tree.appending("d").string
            #expect(try FileManager.default.contentsOfDirectory(atPath: below) == ["f.txt"])
        }
    }

    @Test func bothSidesCanBeKept() async throws {
        try await withConflict { bench, conflict in
            try await bench.domain.resolve(conflict.copy, keep: .both)
            try await bench.settle()
            #expect(texts(bench) == ["ours", "theirs"])
            #expect(try bench.domain.conflicts() == [])
            await #expect(throws: Errno.invalidArgument) {
                try await bench.domain.resolve(conflict.copy, keep: .both)
            }
        }
    }
}
