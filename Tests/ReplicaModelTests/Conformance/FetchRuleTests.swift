import Foundation
import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import ReplicaModel

/// MODEL.md#content: bytes that arrive while programs wait for them.
@Suite struct FetchRuleTests {
    /// A content in which all blocks of 64 KiB differ, and none contains only zeros.
    static func content(_ blocks: Int, _ salt: UInt8 = 1) -> [UInt8] {
        (0..<blocks).flatMap { [UInt8](repeating: UInt8($0 % 100) + salt, count: 65_536) }
    }

    /// The number of readers that wait for another's fetch.
    private static func waiting(_ engine: SyncEngine) -> Int {
        engine.fetches.withLock { $0.waiters.values.reduce(0) { $0 + $1.count } }
    }

    /// Reads the first bytes, and returns the error.
    private static func reader(of number: ItemNumber, _ engine: SyncEngine) -> Task<Errno?, Never> {
        Task {
            do throws(Errno) {
                try await engine.hydrate(number, range: 0..<100)
                return nil
            } catch {
                return error
            }
        }
    }

    @Test func onlyTheReadRangeIsFetched() async throws {
        let bench = try Bench()
        bench.store.write(Self.content(32), to: "x")
        try await bench.settle()
        let number = try bench.number("x")
        try await bench.engine.hydrate(number, range: 1_000_000..<1_000_001)
        let asked = bench.store.calls(of: .fetchContents).compactMap(\.range)
        #expect(asked == [917_504..<1_048_576])
        #expect(try await bench.report("x").materialization == .partial)
        #expect(try await bench.report("x").bytesHere == 131_072)
        #expect(try bench.bytes(of: "x", at: 1_000_000, count: 1) == [16])
        // Local bytes are not requested again.
        try await bench.engine.hydrate(number, range: 950_000..<1_040_000)
        #expect(bench.store.calls(of: .fetchContents).count == 1)
        try await bench.engine.hydrate(number, range: nil)
        #expect(try await bench.report("x").materialization == .whole)
        #expect(try bench.bytes(of: "x", at: 0, count: 32 * 65_536) == Self.content(32))
    }

    @Test func aStoreWithoutRangesFetchesTheWholeFile() async throws {
        let store = MemoryStore()
        store.properties.fetchesRanges = false
        let bench = try Bench(store: store)
        store.write(Self.content(8), to: "x")
        try await bench.settle()
        try await bench.engine.hydrate(try bench.number("x"), range: 0..<1)
        #expect(try await bench.report("x").materialization == .whole)
        #expect(store.calls(of: .fetchContents).count == 1)
    }

    /// Regardless of how far a fetch came before the daemon died: bytes that count as local afterwards are the store's.
    @Test(arguments: 0...6)
    func aCrashNeverServesZeros(blocks: Int) async throws {
        let bench = try Bench()
        let content = Self.content(6)
        bench.store.write(content, to: "x")
        try await bench.settle()
        let number = try bench.number("x")
        let identifier = try #require(bench.store.item(at: "x")?.identifier)
        // A range that was recorded, and one that was not.
        try await bench.engine.hydrate(number, range: 0..<1)
        try bench.replica.record()
        let target = try #require(try bench.replica.fetchTarget(number, range: nil))
        let sink = PlaceholderSink(
            engine: bench.engine, target: target, descriptor: try bench.replica.openForFetch(target))
        for block in 0..<blocks {
            let start = block * 65_536
            try content[start..<start + 65_536].withUnsafeBytes { try sink.write($0, at: Int64(start)) }
        }
        close(sink.descriptor)
        try bench.crash()
        for block in 0..<6 {
            let range = Int64(block) * 65_536..<Int64(block + 1) * 65_536
            let file = try bench.replica.open(try bench.number("x"), flags: O_RDONLY)
            if bench.replica.presence(of: try bench.number("x"), range: range, since: file.generation) == .here {
                let bytes = try bench.bytes(of: "x", at: range.lowerBound, count: range.count)
                #expect(bytes == Array(content[block * 65_536..<(block + 1) * 65_536]))
            }
            close(file.descriptor)
            bench.replica.closed(try bench.number("x"), isWriter: false)
        }
        try await bench.engine.hydrate(try bench.number("x"), range: nil)
        #expect(try bench.bytes(of: "x", at: 0, count: content.count) == content)
        try await bench.settle()
        #expect(bench.store.content(of: identifier) == content)
        #expect(bench.store.calls(of: .modifyItem).allSatisfy { !$0.fields.contains(.contents) })
    }

    @Test func aNewVersionIsStaleForOldReadersAndNewForNewOnes() async throws {
        let bench = try Bench()
        bench.store.write(Self.content(8), to: "x")
        try await bench.settle()
        let number = try bench.number("x")
        let old = try bench.replica.open(number, flags: O_RDONLY)
        try await bench.engine.hydrate(number, range: 0..<1)
        #expect(bench.replica.presence(of: number, range: 0..<10, since: old.generation) == .here)
        #expect(bench.replica.presence(of: number, range: 400_000..<400_001, since: old.generation) == .absent)
        bench.store.write(Self.content(8, 101), to: "x")
        try await bench.settle()
        #expect(bench.replica.presence(of: number, range: 0..<10, since: old.generation) == .stale)
        #expect(bench.replica.presence(of: number, range: 400_000..<400_001, since: old.generation) == .stale)
        // The old descriptor returns the old bytes, never a mixture.
        var byte: UInt8 = 0
        #expect(pread(old.descriptor, &byte, 1, 0) == 1)
        #expect(byte == 1)
        let new = try bench.replica.open(number, flags: O_RDONLY)
        #expect(new.generation != old.generation)
        try await bench.engine.hydrate(number, range: 0..<1)
        #expect(bench.replica.presence(of: number, range: 0..<1, since: new.generation) == .here)
        #expect(pread(new.descriptor, &byte, 1, 0) == 1)
        #expect(byte == 101)
        for file in [old, new] {
            close(file.descriptor)
            bench.replica.closed(number, isWriter: false)
        }
    }

    /// The first reader of a file that was never read gets its current content.
    @Test(arguments: [false, true])
    func aFirstReadOfAReplacedFileGetsTheNewContent(isAnotherItem: Bool) async throws {
        let bench = try Bench()
        bench.store.write("old", to: "x")
        try await bench.settle()
        let number = try bench.number("x")
        let engine = bench.engine { $0.isSequential = false }
        let old = try bench.replica.open(number, flags: O_RDONLY)
        if isAnotherItem { bench.store.delete("x") }
        bench.store.write("newer", to: "x")
        let reader = Self.reader(of: number, engine)
        try await bench.until("the question") { !bench.store.calls(of: .fetchContents).isEmpty }
        try await bench.until("the newer content is asked for") {
            await engine.receive()
            return bench.store.calls(of: .fetchContents).count == 2
        }
        #expect(await reader.value == nil)
        // A descriptor that was opened before is reopened.
        func presence(_ placeholder: UInt64?) -> Presence {
            bench.replica.presence(of: number, range: 0..<5, since: old.generation, placeholder: placeholder)
        }
        #expect(presence(old.placeholder) == .exchanged)
        let new = try bench.replica.reopen(number, since: old.generation)
        var bytes = [UInt8](repeating: 0, count: 9)
        #expect(pread(new.descriptor, &bytes, 9, 0) == 5)
        #expect(bytes.starts(with: Array("newer".utf8)))
        #expect(presence(new.placeholder) == .here)
        for descriptor in [old.descriptor, new.descriptor] { close(descriptor) }
        bench.replica.closed(number, isWriter: false)
    }

    /// The name may belong to another file by now, so the error is not ENOENT.
    @Test func aPartlyReadFileThatWasDeletedIsStale() async throws {
        let bench = try Bench()
        bench.store.write(Self.content(8), to: "x")
        try await bench.settle()
        let number = try bench.number("x")
        try await bench.engine.hydrate(number, range: 0..<1)
        bench.store.delete("x")
        bench.store.write("newer", to: "x")
        await #expect(throws: Errno(rawValue: ESTALE)) { try await bench.engine.hydrate(number, range: nil) }
    }

    @Test func aFirstReadOfADeletedFileFails() async throws {
        let bench = try Bench()
        bench.store.write("old", to: "x")
        try await bench.settle()
        let number = try bench.number("x")
        let engine = bench.engine { $0.isSequential = false }
        bench.store.delete("x")
        let reader = Self.reader(of: number, engine)
        try await bench.until("the question") { !bench.store.calls(of: .fetchContents).isEmpty }
        try await bench.until("the file goes") {
            await engine.receive()
            return try bench.tree().isEmpty
        }
        #expect(await reader.value == .noSuchFileOrDirectory)
    }

    @Test func aNewVersionKeepsTheBytesOfAnOpenFile() async throws {
        let bench = try Bench()
        try bench.write("old bytes", to: "x")
        try await bench.settle()
        let number = try bench.number("x")
        let old = try bench.replica.open(number, flags: O_RDONLY)
        bench.store.write("new", to: "x")
        try await bench.settle()
        var bytes = [UInt8](repeating: 0, count: 9)
        #expect(pread(old.descriptor, &bytes, 9, 0) == 9)
        #expect(bytes == Array("old bytes".utf8))
        #expect(try await bench.read("x") == "new")
        close(old.descriptor)
        bench.replica.closed(number, isWriter: false)
    }

    @Test func readersOfTheSameBytesShareOneFetch() async throws {
        let bench = try Bench()
        bench.store.write(Self.content(2), to: "x")
        try await bench.settle()
        let (engine, number) = (bench.engine, try bench.number("x"))
        let barrier = Barrier()
        bench.store.hold(.fetchContents, at: barrier)
        let readers = (0..<8).map { _ in Self.reader(of: number, engine) }
        try await bench.until("seven wait for one") {
            Self.waiting(engine) == 7 && bench.store.calls(of: .fetchContents).count == 1
        }
        barrier.lift()
        for reader in readers { #expect(await reader.value == nil) }
        #expect(bench.store.calls(of: .fetchContents).count == 1)
        #expect(try bench.bytes(of: "x", at: 0, count: 2) == [1, 1])
    }

    @Test func aReaderThatGivesUpDoesNotHarmTheOthers() async throws {
        let bench = try Bench()
        bench.store.write(Self.content(2), to: "x")
        try await bench.settle()
        let (engine, number) = (bench.engine, try bench.number("x"))
        let barrier = Barrier()
        bench.store.hold(.fetchContents, at: barrier)
        let first = Self.reader(of: number, engine)
        try await bench.until("a fetch") { bench.store.calls(of: .fetchContents).count == 1 }
        let others = (0..<3).map { _ in Self.reader(of: number, engine) }
        try await bench.until("three wait") { Self.waiting(engine) == 3 }
        others[0].cancel()
        #expect(await others[0].value == .interrupted)
        #expect(Self.waiting(engine) == 2)
        // Including the one that started the fetch.
        first.cancel()
        #expect(await first.value == .interrupted)
        try await bench.until("one of the others asks") { bench.store.calls(of: .fetchContents).count == 2 }
        barrier.lift()
        #expect(await others[1].value == nil)
        #expect(await others[2].value == nil)
        #expect(try bench.bytes(of: "x", at: 0, count: 2) == [1, 1])
    }

    /// Late bytes of the store never overwrite bytes that were written after a truncation.
    @Test func bytesFetchedAfterATruncationAreDropped() async throws {
        let bench = try Bench()
        bench.store.write(Self.content(2), to: "x")
        try await bench.settle()
        let number = try bench.number("x")
        let barrier = Barrier()
        bench.store.hold(.fetchContents, at: barrier)
        let reader = Self.reader(of: number, bench.engine)
        try await bench.until("a fetch") { bench.store.calls(of: .fetchContents).count == 1 }
        try bench.write("written here", to: "x")
        barrier.lift()
        #expect(await reader.value == nil)
        #expect(try await bench.read("x") == "written here")
        try await bench.settle()
        #expect(bench.store.text(at: "x") == "written here")
    }

    @Test func aTruncationWaitsForFetchedBytesBeingWritten() async throws {
        let bench = try Bench()
        bench.store.write(Self.content(2), to: "x")
        try await bench.settle()
        let (replica, number) = (bench.replica, try bench.number("x"))
        let target = try #require(try replica.fetchTarget(number, range: nil))
        let file = try replica.openForFetch(target)
        defer { close(file) }
        let isCut = Locked(false)
        let isOver = try replica.fill(0..<1000, of: target, to: file) {
            Thread.detachNewThread {
                var change = AttributeChange()
                change.size = 10
                guard (try? replica.setAttributes(change, of: number)) != nil else { return }
                isCut.withLock { $0 = true }
            }
            usleep(100_000)
            #expect(!isCut.withLock { $0 })
        }
        #expect(!isOver)
        try await bench.until("the cut") { isCut.withLock { $0 } }
        #expect(throws: ReplicaError.errno(.resourceTemporarilyUnavailable)) {
            try replica.fill(1000..<2000, of: target, to: file) { Issue.record("written after the cut") }
        }
    }

    /// Reading the start of a file does not change its modification time, also not in the backing tree.
    @Test func fetchedBytesDoNotChangeTheTimes() async throws {
        let bench = try Bench()
        bench.store.write(Self.content(2), to: "x")
        try await bench.settle()
        let (replica, number) = (bench.replica, try bench.number("x"))
        let before = try replica.attributes(of: number).status.modified
        let target = try #require(try replica.fetchTarget(number, range: 0..<1000))
        let file = try replica.openForFetch(target)
        defer { close(file) }
        let isOver = try replica.fill(0..<1000, of: target, to: file) {
            usleep(20_000)
            #expect(pwrite(file, [1, 2], 2, 0) == 2)
            #expect((try? replica.attributes(of: number))?.status.modified == before)
        }
        #expect(!isOver)
        #expect(try FileStatus(descriptor: file).modified == before)
    }

    /// The file becomes complete between the check and the fetch: that is not an error for the reader.
    @Test func contentFetchedByOthersIsUsed() async throws {
        let bench = try Bench()
        bench.store.properties.reportsEveryContentChange = false
        bench.store.write(Self.content(32), to: "x")
        try await bench.settle()
        let number = try bench.number("x")
        let engine = bench.engine { $0.isSequential = false }
        try await engine.hydrate(number, range: 0..<1)
        let isFirst = Locked(true)
        // The check is followed by a request to the store, because versions are ambiguous.
        bench.store.setHooks(before: { (call) async throws(RemoteStoreError) in
            guard call.method == .item, isFirst.withLock({ $0 }) else { return }
            isFirst.withLock { $0 = false }
            await #expect(throws: Never.self) { try await engine.hydrate(number, range: nil) }
        })
        try await engine.hydrate(number, range: 1_000_000..<1_000_001)
        #expect(!isFirst.withLock { $0 })
        #expect(try await bench.report("x").materialization == .whole)
        #expect(try bench.bytes(of: "x", at: 1_000_000, count: 1) == [16])
    }

    @Test func afterAFailureTheNextWaiterFetches() async throws {
        let bench = try Bench()
        bench.store.write(Self.content(2), to: "x")
        try await bench.settle()
        let (engine, number) = (bench.engine, try bench.number("x"))
        let barrier = Barrier()
        let isFirst = Locked(true)
        bench.store.setHooks(before: { (call) async throws(RemoteStoreError) in
            guard call.method == .fetchContents else { return }
            let fails = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            guard fails else { return }
            try await barrier.pass()
            throw .serverUnreachable
        })
        let readers = (0..<4).map { _ in Self.reader(of: number, engine) }
        try await bench.until("three wait") { Self.waiting(engine) == 3 }
        barrier.lift()
        var outcomes: [Errno?] = []
        for reader in readers { outcomes.append(await reader.value) }
        #expect(outcomes.filter { $0 == nil }.count == 3)
        #expect(outcomes.compactMap { $0 } == [.noRouteToHost])
        #expect(bench.store.calls(of: .fetchContents).count == 2)
    }

    @Test func aStalledFetchIsAborted() async throws {
        let bench = try Bench()
        bench.store.write(Self.content(2), to: "x")
        try await bench.settle()
        let engine = bench.engine { options in
            options.isSequential = false
            options.stallTimeoutSeconds = 0.02
        }
        bench.store.hold(.fetchContents, at: Barrier())
        let number = try bench.number("x")
        let reader = Self.reader(of: number, engine)
        try await bench.until("the fetch") { !bench.store.calls(of: .fetchContents).isEmpty }
        bench.pass(1)
        engine.callTimeouts.check()
        // Not EINTR: there was no signal, and programs would retry for ever.
        #expect(await reader.value == .noRouteToHost)
        bench.store.setHooks()
        try await engine.hydrate(number, range: nil)
        #expect(try await bench.report("x").materialization == .whole)
    }

    @Test func contentsOfTheWrongSizeAreRejected() async throws {
        let script = GreedyStore()
        let bench = try Bench(store: script.memory, through: script)
        bench.store.write("12345678", to: "x")
        try await bench.settle()
        #expect(try await bench.read("x") == "12345678")
        #expect(try bench.status("x").st_size == 8)
    }
}

/// A store that sends more bytes than a file has, some of them twice, in any order.
private final class GreedyStore: StoreWrapper {
    let memory = MemoryStore()
    var store: any RemoteStore { memory }

    func fetchContents(
        of identifier: ItemIdentifier, version: String?, range: Range<Int64>?, into sink: any ContentSink
    ) async throws(RemoteStoreError) -> Item {
        let bytes = (memory.content(of: identifier) ?? []) + Array("and more".utf8)
        for start in [4, 0, 2, 4, 12] {
            try sink.write(Array(bytes[start...]), at: Int64(start))
        }
        return try await memory.item(identifier)
    }
}
