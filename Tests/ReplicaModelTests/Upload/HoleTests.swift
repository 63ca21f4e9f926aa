import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import ReplicaModel

/// Copying bytes does not fill holes.
@Suite struct HoleTests {
    private static let block: Int64 = 1 << 20
    private static let size: Int64 = 8 << 30

    /// A file of `size` with a block of data at each of `places`.
    private func source(_ places: [Int64], in folder: BenchFolder, size: Int64 = size) throws -> Int32 {
        let file = open(folder.path.appending("source").string, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        try #require(file >= 0)
        try #require(ftruncate(file, Int(size)) == 0)
        let data = [UInt8](repeating: 7, count: Int(Self.block))
        for place in places { try #require(pwrite(file, data, data.count, Int(place)) == data.count) }
        return file
    }

    private func status(_ file: Int32) -> stat {
        var status = stat()
        #expect(fstat(file, &status) == 0)
        return status
    }

    private func byte(_ file: Int32, _ offset: Int64) -> UInt8? {
        var byte: UInt8 = 255
        return pread(file, &byte, 1, Int(offset)) == 1 ? byte : nil
    }

    @Test(arguments: [[], [0], [3 << 30], [size - block], [0, 1 << 30, 5 << 30]])
    func aSnapshotKeepsHoles(places: [Int64]) throws {
        let folder = try BenchFolder()
        let file = try source(places, in: folder)
        defer { close(file) }
        let snapshots = SnapshotFiles(in: folder.path)
        let snapshot = try snapshots.make(of: file, size: Self.size)
        defer { close(snapshot) }
        #expect(status(snapshot).st_size == Int(Self.size))
        #expect(status(snapshot).st_blocks <= status(file).st_blocks + 64)
        for place in places {
            #expect(byte(snapshot, place) == 7 && byte(snapshot, place + Self.block - 1) == 7)
            #expect(byte(snapshot, place - 1) ?? 0 == 0 && byte(snapshot, place + Self.block) ?? 0 == 0)
        }
    }

    @Test func aTruncatedSourceEndsEarlier() throws {
        let folder = try BenchFolder()
        let file = try source([0], in: folder, size: 2 << 30)
        defer { close(file) }
        let snapshot = try SnapshotFiles(in: folder.path).make(of: file, size: Self.size)
        defer { close(snapshot) }
        #expect(status(snapshot).st_size == 2 << 30)
    }

    @Test func withoutKnownHolesEverythingIsData() throws {
        let answers = { (_: Int32, _: Int64, _: Int32) -> Int64 in
            errno = EINVAL
            return -1
        }
        #expect(Array(DataRanges(of: -1, in: 3..<9, seek: answers)) == [3..<9])
        #expect(Array(DataRanges(of: -1, in: 3..<3, seek: answers)).isEmpty)
    }

    /// Data at 4 to 6, at 7 and from 8 on, as lseek(2) answers of a file of 10.
    @Test(arguments: [
        (0..<10, [4..<6, 7..<8, 8..<10]), (5..<6, [5..<6]), (6..<7, []), (0..<4, []), (5..<8, [5..<6, 7..<8]),
        (9..<20, [9..<10]), (10..<20, []),
    ])
    func dataIsFound(range: Range<Int64>, expected: [Range<Int64>]) {
        let runs: [Range<Int64>] = [4..<6, 7..<8, 8..<10]
        let found = DataRanges(of: -1, in: range) { _, offset, whence in
            let run = runs.first { $0.upperBound > offset }
            guard let run else {
                errno = ENXIO
                return -1
            }
            // SEEK_DATA is 3, SEEK_HOLE 4.
            if whence == 3 { return max(offset, run.lowerBound) }
            return run.contains(offset) ? run.upperBound : offset
        }
        #expect(Array(found) == expected)
    }

    /// Zeros replace the old bytes, and take no space.
    @Test func zerosBecomeAHoleInStaging() throws {
        let folder = try BenchFolder()
        let file = try source([0, 1 << 30], in: folder)
        defer { close(file) }
        let sink = StagingSink(descriptor: file, size: Self.size) { _ in }
        let before = status(file).st_blocks
        try sink.writeZeros(in: Self.block / 2..<Self.size)
        #expect(byte(file, 0) == 7 && byte(file, Self.block / 2) == 0 && byte(file, 1 << 30) == 0)
        #expect(status(file).st_blocks < before)
        #expect(throws: RemoteStoreError.self) { try sink.writeZeros(in: 0..<Self.size + 1) }
        #expect(sink.hasTooMuch)
    }

    @Test func zerosCountAsReceived() throws {
        let buffer = ContentBuffer()
        let sink = CheckedSink(buffer)
        try sink.writeZeros(in: 3..<7)
        #expect(sink.missing(in: 0..<10) == [0..<3, 7..<10])
        #expect(buffer.bytes == [UInt8](repeating: 0, count: 7))
        #expect(throws: RemoteStoreError.self) { try sink.writeZeros(in: Int64.min..<0) }
        #expect(throws: RemoteStoreError.self) { try sink.writeZeros(in: 0..<Int64.max) }
    }
}
