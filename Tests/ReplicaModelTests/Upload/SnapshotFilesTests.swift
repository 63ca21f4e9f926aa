import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import ReplicaModel

/// Snapshots of contents, small ones in memory.
@Suite struct SnapshotFilesTests {
    private static let large = 64 << 10 | 1

    private func content(_ size: Int, _ seed: UInt8) -> [UInt8] {
        (0..<size).map { UInt8(truncatingIfNeeded: $0) ^ seed }
    }

    private func source(_ bytes: [UInt8], in folder: BenchFolder, _ name: String = "source") throws -> Int32 {
        let file = open(folder.path.appending(name).string, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        try #require(file >= 0)
        try #require(write(file, bytes, bytes.count) == bytes.count)
        return file
    }

    private func bytes(_ file: Int32) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Self.large * 2)
        let count = try #require(read(file, &bytes, bytes.count) as Int?)
        return Array(bytes.prefix(max(0, count)))
    }

    /// Each reuses the file of the one before.
    @Test(arguments: [[0], [5, 3, 0, 7], [large - 1, 1, large, 2], [large, 0, large * 2]])
    func aSnapshotEqualsTheContent(_ sizes: [Int]) throws {
        let folder = try BenchFolder()
        let snapshots = SnapshotFiles(in: folder.path)
        for (turn, size) in sizes.enumerated() {
            let wanted = content(size, UInt8(turn + 1))
            let file = try source(wanted, in: folder)
            defer { close(file) }
            let snapshot = try snapshots.make(of: file, size: Int64(size))
            // Later writes don't change it.
            try #require(pwrite(file, "later", 5, 0) == 5)
            #expect(try bytes(snapshot) == wanted)
            snapshots.release(snapshot, size: Int64(size))
        }
    }

    @Test func aShrunkFileGivesTheRest() throws {
        let folder = try BenchFolder()
        let snapshots = SnapshotFiles(in: folder.path)
        for size in [100, Self.large * 2] {
            let file = try source([1, 2, 3], in: folder)
            defer { close(file) }
            let snapshot = try snapshots.make(of: file, size: Int64(size))
            #expect(try bytes(snapshot) == [1, 2, 3])
            snapshots.release(snapshot, size: Int64(size))
        }
    }

    @Test func snapshotFilesInUseAreNotShared() throws {
        let folder = try BenchFolder()
        let snapshots = SnapshotFiles(in: folder.path)
        let (one, other) = (try source([1], in: folder), try source([2], in: folder, "other"))
        defer { for file in [one, other] { close(file) } }
        // More than the number that are kept.
        let made = try (0..<40).map { try snapshots.make(of: $0 % 2 == 0 ? one : other, size: 1) }
        #expect(Set(made).count == 40)
        for file in made { snapshots.release(file, size: 1) }
        let again = try (0..<40).map { _ in try snapshots.make(of: one, size: 1) }
        #expect(Set(again).count == 40)
        for file in again {
            #expect(try bytes(file) == [1])
            snapshots.release(file, size: 1)
        }
    }

    /// A disk with short reads and occasional interruptions.
    @Test(arguments: [100, large * 2])
    func shortReadsAreContinued(_ size: Int) throws {
        let folder = try BenchFolder()
        let turns = Counter()
        let snapshots = SnapshotFiles(in: folder.path) { file, buffer, offset in
            if turns.next() % 3 == 0 {
                errno = EINTR
                return -1
            }
            return pread(file, buffer.baseAddress, min(buffer.count, 7 + size / 50), Int(offset))
        }
        let wanted = content(size, 9)
        let file = try source(wanted, in: folder)
        defer { close(file) }
        let snapshot = try snapshots.make(of: file, size: Int64(size))
        #expect(try bytes(snapshot) == wanted)
        snapshots.release(snapshot, size: Int64(size))
    }

    /// Files that copy_file_range(2) does not copy are read: the kernel's symbols come a page at a time.
    @Test func bytesThatTheKernelDoesNotCopyAreRead() throws {
        let folder = try BenchFolder()
        let file = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC)
        try #require(file >= 0)
        defer { close(file) }
        let snapshots = SnapshotFiles(in: folder.path)
        let snapshot = try snapshots.make(of: file, size: Int64(Self.large))
        #expect(try bytes(snapshot).count == Self.large)
        snapshots.release(snapshot, size: Int64(Self.large))
    }

    /// A disk error only concerns its file; it is reported and retried, and ends when the disk works again.
    @Test(arguments: [EIO, 0])
    func readErrorsAreRetried(_ storeFailure: Int32) async throws {
        let isSick = Locked(true)
        let bench = try Bench(reading: { file, buffer, offset in
            let count = pread(file, buffer.baseAddress, buffer.count, Int(offset))
            guard isSick.withLock({ $0 }), buffer.count == 4 else { return count }
            errno = storeFailure
            return storeFailure == 0 ? 0 : -1
        })
        try bench.write("sick", to: "x")
        try bench.write("well and whole", to: "y")
        for _ in 0..<3 {
            bench.pass(400)
            _ = await bench.engine.send()
        }
        let failure = try #require(bench.replica.withTree { $0.byName("x")?.failure })
        #expect(failure.code == "itemUnavailable" && failure.attempts == 3 && failure.retryAt != nil)
        #expect(failure.message.hasPrefix("its content cannot be read"))
        #expect(bench.store.entries.keys.sorted() == ["y"])
        isSick.withLock { $0 = false }
        try await bench.settle()
        #expect(bench.store.text(at: "x") == "sick")
        #expect(bench.replica.withTree { $0.byName("x")?.failure } == nil)
    }

    /// Only small memory files are kept for reuse: a large snapshot is closed.
    @Test func aLargeSnapshotIsClosed() throws {
        let folder = try BenchFolder()
        let path = folder.path.string + "/large"
        let file = open(path, O_RDWR | O_CREAT, 0o600)
        defer { close(file) }
        #expect(ftruncate(file, Self.large) == 0)
        let snapshots = SnapshotFiles(in: folder.path)
        let snapshot = try snapshots.make(of: file, size: Int64(Self.large))
        var (before, after) = (stat(), stat())
        #expect(fstat(snapshot, &before) == 0)
        snapshots.release(snapshot, size: Int64(Self.large))
        // Another test may have got the number.
        #expect(fstat(snapshot, &after) != 0 || after.st_ino != before.st_ino)
        #expect(snapshots.idle.withLock { $0.isEmpty })
    }

    /// If there is no space for the copy, all uploads wait and the domain reports that; the file itself has no error.
    @Test func aFullDiskIsNotAnErrorOfTheFile() async throws {
        let isFull = Locked(true)
        let bench = try Bench(reading: { file, buffer, offset in
            guard isFull.withLock({ $0 }) else { return pread(file, buffer.baseAddress, buffer.count, Int(offset)) }
            errno = ENOSPC
            return -1
        })
        for name in ["x", "y"] { try bench.write("text", to: name) }
        bench.pass(2)
        _ = await bench.engine.send()
        #expect(bench.replica.withTree { $0.byName("x")?.failure } == nil)
        let report = try bench.domain.report()
        #expect(report.state == .offline && report.reason?.hasPrefix("no space left") == true)
        bench.pass(1)
        _ = await bench.engine.send()
        #expect(bench.store.calls(of: .createItem).isEmpty)
        isFull.withLock { $0 = false }
        bench.pass(6)
        _ = await bench.engine.send()
        #expect(bench.store.entries.keys.sorted() == ["x", "y"])
        #expect(try bench.domain.report().state != .offline)
    }
}

/// Counts calls.
private final class Counter: Sendable {
    private let count = Locked(0)

    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}

extension Tree {
    fileprivate func byName(_ name: String) -> Node? { root.children?[FileName(name)] }
}
