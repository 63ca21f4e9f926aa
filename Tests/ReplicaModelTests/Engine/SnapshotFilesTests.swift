import Glibc
import SystemPackage
import Testing

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

    /// Each takes the file that the one before left.
    @Test(arguments: [[0], [5, 3, 0, 7], [large - 1, 1, large, 2], [large, 0, large * 2]])
    func aSnapshotHasTheContentAndNoMore(_ sizes: [Int]) throws {
        let folder = try BenchFolder()
        let snapshots = SnapshotFiles(in: folder.path)
        for (turn, size) in sizes.enumerated() {
            let wanted = content(size, UInt8(turn + 1))
            let file = try source(wanted, in: folder)
            defer { close(file) }
            let snapshot = try snapshots.make(of: file, size: Int64(size))
            // What is written later is not in it.
            try #require(pwrite(file, "later", 5, 0) == 5)
            #expect(try bytes(snapshot) == wanted)
            snapshots.release(snapshot, size: Int64(size))
        }
    }

    @Test func aFileThatShrankGivesWhatIsLeft() throws {
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

    @Test func whatIsInUseIsNeverAnothers() throws {
        let folder = try BenchFolder()
        let snapshots = SnapshotFiles(in: folder.path)
        let (one, other) = (try source([1], in: folder), try source([2], in: folder, "other"))
        defer { for file in [one, other] { close(file) } }
        // More than are kept.
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
}
