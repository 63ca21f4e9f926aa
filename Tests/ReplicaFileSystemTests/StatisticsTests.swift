import Glibc
import ReplicaModel
import Testing

@testable import ReplicaFileSystem

/// What statfs(2) shows of the local disk and of the store.
@Suite struct StatisticsTests {
    /// A local disk of 1,000 blocks, with 300 free of which 200 are for everybody.
    private static func shown(_ usage: StoreUsage?) throws -> [UInt] {
        var status = statvfs()
        (status.f_frsize, status.f_bsize) = (4096, 4096)
        (status.f_blocks, status.f_bfree, status.f_bavail) = (1_000, 300, 200)
        (status.f_files, status.f_ffree) = (50, 20)
        status.show(try #require(usage))
        #expect(status.f_frsize == 4096 && status.f_files == 50 && status.f_ffree == 20)
        return [status.f_blocks, status.f_bfree, status.f_bavail]
    }

    @Test func theSizeIsTheStoresAndTheFreeSpaceIsTheSmallerOfBoth() throws {
        // The store has less space.
        #expect(try Self.shown(StoreUsage(total: 40_960, used: 8_192)) == [10, 8, 8])
        #expect(try Self.shown(StoreUsage(total: 40_960, used: 8_192, free: 4_096)) == [10, 8, 1])
        #expect(try Self.shown(StoreUsage(total: 40_960, used: 40_960)) == [10, 0, 0])
        // The local disk has less.
        let large = StoreUsage(total: 1 << 40, used: 1 << 30)
        #expect(try Self.shown(large) == [1 << 28, 1 << 28 - 1 << 18, 200])
        // Extremes.
        #expect(try Self.shown(StoreUsage(total: 1, used: 0)) == [1, 0, 0])
        #expect(try Self.shown(StoreUsage(total: .max, used: 0)) == [1 << 51, (1 << 51) - 1, 200])
        #expect(try Self.shown(StoreUsage(total: .max, used: .max)) == [1 << 51, 0, 0])
    }

    @Test func aDiskWithoutBlocksCrashesNothing() throws {
        var status = statvfs()
        status.show(try #require(StoreUsage(total: .max, used: 0)))
        #expect(status.f_blocks == Int64.max && status.f_bavail == 0)
    }
}
