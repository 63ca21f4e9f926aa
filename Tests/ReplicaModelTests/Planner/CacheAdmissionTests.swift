import SystemPackage
import Testing

@testable import ReplicaModel

/// Which content is kept on the disk when a program reads it.
@Suite struct CacheAdmissionTests {
    private static let reserve = CacheAdmission.reserve

    @Test(
        arguments: [
            (1000, 1000, 1000 + reserve, nil, true), (1000, 1000, 999 + reserve, nil, false),
            (1 << 40, 10, 10 + reserve, nil, true), (1000, 0, reserve, nil, true), (1000, 0, 0, nil, false),
            (1000, 1000, .max, 1000, true), (1001, 1001, .max, 1000, false), (1001, 1, .max, 1000, false),
            (1, 1, reserve, 0, false),
        ] as [(Int64, Int64, Int64, Int64?, Bool)])
    func contentThatFitsIsKept(size: Int64, missing: Int64, free: Int64, cacheLimit: Int64?, isKept: Bool) {
        #expect(CacheAdmission(free: free, cacheLimit: cacheLimit).isKept(size: size, missing: missing) == isKept)
    }

    @Test func spaceIsCheckedOccasionally() throws {
        var (space, asked, free) = (FreeSpace(), 0, Self.reserve + 1_000)
        func isKept(_ missing: Int64, at now: Double) throws(Errno) -> Bool {
            try space.isKept(size: missing, missing: missing, cacheLimit: nil, now: now) { () throws(Errno) in
                asked += 1
                return free
            }
        }
        for _ in 0..<10 { #expect(try isKept(50, at: 100)) }
        #expect(asked == 1)
        // Content kept since the last query counts; if it no longer fits, the space is queried again.
        #expect(try isKept(501, at: 100.5))
        #expect(asked == 2)
        free = Self.reserve
        #expect(try isKept(100, at: 100.6))
        #expect(try !isKept(100, at: 101.6))
        #expect(asked == 3)
        #expect(try !isKept(100, at: 101.7))
        // A clock that was set back, and a disk that can't be queried.
        #expect(try !isKept(0, at: 5) == false)
        #expect(asked == 5)
        #expect(throws: Errno.ioError) {
            try space.isKept(size: 1, missing: 1, cacheLimit: nil, now: 50) { () throws(Errno) in throw .ioError }
        }
    }

    private func window(_ number: UInt64, at start: Int64, count: Int = 10, usedAt: Double = 0)
        -> UncachedWindows.Window
    {
        UncachedWindows.Window(
            number: ItemNumber(number), version: "1", start: start,
            bytes: (0..<count).map { UInt8(truncatingIfNeeded: Int(start) + $0) }, usedAt: usedAt)
    }

    @Test func aWindowServesOnlyCompleteRanges() {
        var passing = UncachedWindows()
        passing.take(window(7, at: 20))
        func bytes(_ range: Range<Int64>, of number: UInt64 = 7, version: String = "1") -> [UInt8]? {
            passing.bytes(range, of: ItemNumber(number), version: version, now: 1)
        }
        #expect(bytes(20..<30) == Array(20..<30))
        #expect(bytes(22..<25) == [22, 23, 24])
        #expect(bytes(30..<30) == [])
        #expect(bytes(19..<25) == nil && bytes(25..<31) == nil)
        #expect(bytes(22..<25, of: 8) == nil && bytes(22..<25, version: "2") == nil)
    }

    @Test func windowsAreFewAndExpire() {
        var passing = UncachedWindows()
        for number in 1...20 { passing.take(window(UInt64(number), at: 0, usedAt: Double(number))) }
        #expect(passing.windows.map(\.number.rawValue) == Array(13...20))
        passing.dropIdle(now: 20 + UncachedWindows.idleSeconds - 0.5)
        #expect(passing.windows.map(\.number.rawValue) == [20])
        // A clock that was set back does not make a result valid for ever.
        passing.dropIdle(now: -1000)
        #expect(passing.windows.isEmpty)
    }
}
