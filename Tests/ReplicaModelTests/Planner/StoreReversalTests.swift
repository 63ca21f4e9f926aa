import Testing

@testable import ReplicaModel

/// Whether the store went back to earlier contents, and which of the newer ones stay on the disk.
@Suite struct StoreReversalTests {
    private static func date(_ seconds: Double) -> Timestamp { Timestamp(secondsSince1970: seconds) }

    @Test(
        arguments: [
            (1000, 990, true), (1000, 997.9, true), (1000, 998, false), (1000, 999, false), (1000, 1000, false),
            (1000, 1001, false), (1000, nil, false), (-1000, -2000, true), (1e12, -1e12, true), (-1e12, 1e12, false),
        ] as [(Double, Double?, Bool)])
    func anOlderContentIsAReversal(here: Double, there: Double?, isReversal: Bool) {
        #expect(StoreReversal.isOne(from: Self.date(here), to: there.map(Self.date)) == isReversal)
    }

    /// Deletions that the store reports later are those of files created or written after the latest date that it went back to.
    @Test(
        arguments: [
            // Born here, date of the content, seconds since the reversal.
            (50, 101, 0, true), (101, 50, 0, true), (0, 101, 0, true), (0, 100, 0, false), (100, 99, 0, false),
            (0, 101, 7199, true), (0, 101, 7200, false), (101, 101, 7200, false),
        ] as [(Double, Double, Double, Bool)])
    func itExplainsDeletionsOfNewerFiles(born: Double, modified: Double, later: Double, isExplained: Bool) {
        var reversal = StoreReversal.noting(Self.date(90), now: 5000, after: nil)
        reversal = .noting(Self.date(100), now: 5001, after: reversal)
        reversal = .noting(Self.date(80), now: 5000, after: reversal)
        let found = reversal.explainsDeletion(born: Self.date(born), modified: Self.date(modified), now: 5000 + later)
        #expect(found == isExplained)
    }

    @Test func anotherReversalIsOfAnotherBackup() {
        let former = StoreReversal.noting(Self.date(100), now: 0, after: nil)
        let next = StoreReversal.noting(Self.date(50), now: 7200, after: former)
        #expect(next == StoreReversal.noting(Self.date(50), now: 7200, after: nil))
        #expect(StoreReversal.noting(Self.date(50), now: 7199, after: former).date == Self.date(100))
    }

    private static func content(_ number: UInt64, size: Int64 = 10, modified: Double = 0, day: Double = 0)
        -> NewerContent
    {
        NewerContent(
            number: ItemNumber(number), size: size, modified: date(modified), keptAt: date(day * 86_400))
    }

    @Test(
        arguments: [
            // The free space, what is there, which of that is removed; nil if the new content is not kept.
            (30, [], []), (29, [], nil), (0, [], nil), (-5, [], nil), (.max, [], []),
            // What is there counts as free, and against the limit.
            (60, [content(2, size: 10)], []), (59, [content(2, size: 10)], nil),
            // It gives way after a month, if there is no other room, the oldest first.
            (59, [content(2, day: -30)], nil), (59, [content(2, day: -31)], [2]), (60, [content(2, day: -31)], []),
            (70, [content(2, day: -31), content(3, day: -40)], [3]),
            (29, [content(2, day: -31), content(3, day: -40)], [2, 3]),
            // Nothing is removed in vain.
            (8, [content(2, day: -31)], nil), (49, [content(2, day: -1), content(3, day: -40)], nil),
            // Of each item the newest.
            (.max, [content(1, modified: 99)], [1]), (.max, [content(1, modified: 100)], nil),
            (.max, [content(1, modified: 101)], nil), (29, [content(1, modified: 99)], [1]),
            (.max, [content(1, modified: 99), content(1, modified: 101), content(2)], nil),
            // No more than three.
            (.max, [content(2), content(3)], []), (.max, [content(2), content(3), content(4)], nil),
            (.max, [content(2), content(3), content(4, day: -31)], [4]),
            (.max, [content(1), content(3), content(4)], [1]),
        ] as [(Int64, [NewerContent], [UInt64]?)])
    func contentsAreKeptAsFarAsThereIsRoom(free: Int64, kept: [NewerContent], removed: [UInt64]?) {
        let plan = NewerContentsPlan(Self.content(1, modified: 100), among: kept, free: free, mostFiles: 3)
        #expect(plan.keeps == (removed != nil))
        #expect(plan.removed.map(\.number.rawValue).sorted() == removed ?? [])
    }
}
