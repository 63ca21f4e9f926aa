import CLinux
import Foundation
import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import ReplicaModel

/// evictItem and the cache's limits (MODEL.md#eviction, statement 40).
@Suite struct EvictionTests {
    private func evict(_ path: String, _ bench: DomainBench, isStrict: Bool = true) async throws -> Eviction {
        try await bench.domain.evict(DomainBench.names(path), isStrict: isStrict)
    }

    private func reasons(_ eviction: Eviction) -> [String: EvictionRefusal] {
        Dictionary(uniqueKeysWithValues: eviction.refused.map { (DomainBench.text($0.path), $0.reason) })
    }

    @Test func statement40_evictionGivesTheSpaceBackAndReadingFetches() async throws {
        try await DomainBench.run { bench in
            let text = String(repeating: "x", count: 20_000)
            try await bench.write(text, to: "f")
            try await bench.setXattr("user.color", "red", of: "f")
            try await bench.settle()
            let before = try bench.status("f")
            let result = try await evict("f", bench)
            #expect(result == Eviction(items: 1, bytes: 20_000, refused: []))
            let after = try bench.status("f")
            #expect(after.st_blocks <= 8)
            #expect(after.st_size == before.st_size)
            #expect(after.st_mtim.tv_nsec == before.st_mtim.tv_nsec)
            #expect(try await bench.item("f").bytesHere == 0)
            #expect(bench.store.calls(of: .fetchContents).isEmpty)
            let found = try await bench.read("f")
            #expect(found == text)
            #expect(bench.store.calls(of: .fetchContents).count == 1)
            // Evicting an item that is not local succeeds without effect.
            _ = try await evict("f", bench)
            #expect(try await evict("f", bench) == Eviction())
        }
    }

    @Test func unsentFilesAreNotEvicted() async throws {
        try await DomainBench.run { bench in
            try bench.domain.disconnect(reason: "test")
            try await bench.write("only here", to: "f")
            #expect(reasons(try await evict("f", bench)) == ["f": .unsyncedEdits])
            let found = try await bench.read("f")
            #expect(found == "only here")
        }
    }

    /// Whether the store still has it is not known then, and nobody could read it.
    @Test func nothingIsEvictedWhileTheStoreIsUnreachable() async throws {
        try await DomainBench.run { bench in
            try await bench.write("text", to: "f")
            try await bench.settle()
            let engine = bench.domain.engine
            for failure in ["serverUnreachable", "notAuthenticated", "cannotSynchronize"] {
                engine.state.withLock {
                    $0.storeFailure = Failure(code: failure, message: failure, attempts: 1, retryAt: .infinity)
                }
                #expect(reasons(try await evict("f", bench)) == ["f": .storeUnavailable])
                #expect(reasons(try await evict("f", bench, isStrict: false)) == ["f": .storeUnavailable])
            }
            // These keep nobody from reading.
            for failure in ["insufficientQuota", "readOnly", "busy", Failure.fullDisk] {
                engine.state.withLock {
                    $0.storeFailure = Failure(code: failure, message: failure, attempts: 1, retryAt: .infinity)
                }
                let number = try #require(bench.replica.withTree { $0.root.children?[FileName("f")]?.number })
                #expect(engine.evictionRefusal(of: number) == nil)
            }
        }
    }

    @Test func theCacheEvictsNothingWhileTheStoreIsUnreachable() async throws {
        var options = DomainOptions()
        options.cacheLimit = 1
        let store = MemoryStore()
        store.write("text", to: "f")
        try await DomainBench.run(store: store, options: options) { bench in
            try await bench.settle()
            let engine = bench.domain.engine
            try await bench.withItem("f") { number in
                // Held, so that it stays until the store is away.
                let file = try bench.replica.open(number, flags: O_RDONLY)
                try await engine.hydrate(number, range: nil)
                try await bench.settle()
                await engine.makeDurableIfPossible()
                engine.state.withLock {
                    $0.storeFailure = Failure(code: "serverUnreachable", message: "", attempts: 1, retryAt: .infinity)
                }
                close(file.descriptor)
                bench.replica.closed(number, isWriter: false)
            }
            await engine.trimCache()
            #expect(try await bench.item("f").materialization == .whole)
            engine.state.withLock { $0.storeFailure = nil }
            try await bench.until("the file is evicted") { try await bench.item("f").materialization == .dataless }
        }
    }

    @Test func anOpenFileIsNotEvicted() async throws {
        try await DomainBench.run { bench in
            try await bench.write("text", to: "f")
            try await bench.settle()
            try await bench.withItem("f") { number in
                let file = try bench.replica.open(number, flags: O_RDONLY)
                #expect(reasons(try await evict("f", bench)) == ["f": .open])
                close(file.descriptor)
                bench.replica.closed(number, isWriter: false)
            }
            #expect(try await evict("f", bench).items == 1)
        }
    }

    @Test func aHardLinkedFileIsNotEvicted() async throws {
        try await DomainBench.run { bench in
            try await bench.write("text", to: "f")
            try await bench.withItem("f") { number in
                _ = try bench.replica.link(number, as: FileName("g"), in: .root)
            }
            try await bench.settle()
            #expect(reasons(try await evict("f", bench)) == ["f": .hardLinked])
        }
    }

    /// The kernel removes them with the bytes.
    @Test(.enabled(if: geteuid() == 0)) func aFileWithCapabilitiesIsNotEvicted() async throws {
        try await DomainBench.run { bench in
            try await bench.write("text", to: "f")
            try await bench.settle()
            let netRaw: [UInt8] = [1, 0, 0, 2, 0, 0x20, 0, 0] + [UInt8](repeating: 0, count: 12)
            try #require(setxattr(bench.backing("f"), "security.capability", netRaw, netRaw.count, 0) == 0)
            #expect(reasons(try await evict("f", bench)) == ["f": .capabilities])
            #expect(getxattr(bench.backing("f"), "security.capability", nil, 0) == netRaw.count)
        }
    }

    @Test func filesWrittenBelowTheMountAreNotEvicted() async throws {
        try await DomainBench.run { bench in
            try await bench.write("text", to: "f")
            try await bench.settle()
            try "other".write(toFile: bench.backing("f"), atomically: false, encoding: .utf8)
            #expect(reasons(try await evict("f", bench)) == ["f": .unsyncedEdits])
            try await bench.settle()
            #expect(bench.store.text(at: "f") == "other")
        }
    }

    @Test func strictEvictionIsAllOrNothing() async throws {
        try await DomainBench.run { bench in
            try await bench.makeFolder("d")
            for name in ["a", "b", "c"] { try await bench.write(name, to: "d/\(name)") }
            try await bench.settle()
            try await bench.domain.pin(DomainBench.names("d/b"))
            let strict = try await evict("d", bench)
            #expect(strict.items == 0)
            #expect(reasons(strict) == ["d/b": .pinned])
            #expect(try await bench.item("d/a").materialization == .whole)
            let other = try await evict("d", bench, isStrict: false)
            #expect(other.items == 2)
            #expect(reasons(other) == ["d/b": .pinned])
            #expect(try await bench.item("d/c").materialization == .dataless)
            #expect(try await bench.item("d").materialization == .whole)
        }
    }

    @Test func anEvictedFolderKeepsItsNamesOffline() async throws {
        try await DomainBench.run { bench in
            try await bench.makeFolder("d")
            try await bench.makeFolder("d/e")
            try await bench.write("one", to: "d/one")
            try await bench.write("two", to: "d/e/two")
            try await bench.settle()
            let work = RequestProgress()
            let done = try await bench.domain.evict(DomainBench.names("d"), isStrict: false, work: work)
            #expect(done.items == 2 && done.refused == [])
            #expect(work.counts == RequestProgress.Counts(items: 2, itemsTotal: 2, isCounting: false))
            try bench.domain.disconnect(reason: "test")
            for folder in ["d", "d/e"] { #expect(try await bench.item(folder).materialization == .whole) }
            #expect(try await bench.item("d/e/two").materialization == .dataless)
            #expect(access(bench.backing("d/e/two"), F_OK) == 0)
        }
    }

    @Test func aForgottenFolderIsDataless() async throws {
        try await DomainBench.run { bench in
            try await bench.makeFolder("d")
            try await bench.makeFolder("d/e")
            try await bench.write("one", to: "d/one")
            try await bench.write("two", to: "d/e/two")
            try await bench.settle()
            let number = try await bench.item("d/e/two").number
            #expect(try await bench.domain.forget(DomainBench.names("d")).refused == [])
            #expect(try await bench.item("d").materialization == .dataless)
            #expect(access(bench.backing("d/one"), F_OK) != 0)
            bench.store.write("new", to: "d/new")
            bench.store.clearCalls()
            #expect(try await bench.read("d/e/two") == "two")
            #expect(try await bench.read("d/new") == "new")
            // Inode numbers outlive the eviction.
            #expect(try await bench.item("d/e/two").number == number)
            #expect(
                Set([number, try await bench.item("d/new").number, try await bench.item("d/one").number]).count == 3)
            #expect(!bench.store.calls(of: .enumerateItems).isEmpty)
            #expect(bench.store.calls(of: .deleteItem).isEmpty)
            #expect(bench.store.entries.count == 5)
        }
    }

    @Test func aDroppedListingIsNoDeletionAfterACrash() async throws {
        try await DomainBench.run { bench in
            try await bench.makeFolder("d")
            try await bench.write("one", to: "d/one")
            try await bench.settle()
            #expect(try await bench.domain.forget(DomainBench.names("d")).refused == [])
            try await bench.restart()
            try await bench.settle()
            #expect(bench.store.text(at: "d/one") == "one")
            #expect(try await bench.read("d/one") == "one")
        }
    }

    @Test func theCacheKeepsTheMostRecentlyUsedFiles() async throws {
        var options = DomainOptions()
        options.cacheLimit = 50_000
        let store = MemoryStore()
        for number in 0..<10 { store.write(String(repeating: "\(number)", count: 10_000), to: "f\(number)") }
        try await DomainBench.run(store: store, options: options) { bench in
            try await bench.settle()
            try await bench.domain.pin(DomainBench.names("f0"))
            // Pinned files are fetched in the background, and take their share of the space.
            try await bench.until("the pinned file") { try await bench.item("f0").materialization == .whole }
            for number in 1..<10 { _ = try await bench.read("f\(number)") }
            // The upkeep's own trimming; another one beside it would count the same bytes twice.
            try await bench.until("the cache within its limit") { try bench.domain.report().bytesHere <= 50_000 }
            try await bench.until("the pinned file here") { try await bench.item("f0").materialization == .whole }
            #expect(try await bench.item("f9").materialization == .whole)
            #expect(try await bench.item("f1").materialization == .dataless)
        }
    }

    @Test func theCacheKeepsFreeSpaceOnTheDisk() async throws {
        var options = DomainOptions()
        options.minimumFree = .max  // No disk has that much.
        let store = MemoryStore()
        for name in ["kept", "old"] { store.write("text of \(name)", to: name) }
        try await DomainBench.run(store: store, options: options) { bench in
            try await bench.settle()
            try await bench.domain.pin(DomainBench.names("kept"))
            try await bench.until("the pinned file") { try await bench.item("kept").materialization == .whole }
            _ = try await bench.read("old")
            try await bench.until("room on the disk") { try await bench.item("old").materialization == .dataless }
            #expect(try await bench.item("kept").materialization == .whole)
        }
    }

    @Test func theCacheNeverEvictsUnsentFiles() async throws {
        var options = DomainOptions()
        options.cacheLimit = 1
        try await DomainBench.run(options: options) { bench in
            try bench.domain.disconnect(reason: "test")
            try await bench.write("only here", to: "f")
            await bench.domain.engine.trimCache()
            let found = try await bench.read("f")
            #expect(found == "only here")
        }
    }
}
