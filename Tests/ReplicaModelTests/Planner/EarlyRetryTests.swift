import Testing

@testable import ReplicaModel

/// When failed items are retried, and which of them.
@Suite struct EarlyRetryTests {
    @Test func pausesGrowToFiveMinutesOrTenSecondsForWaiters() {
        let table: [(attempts: Int, alone: Double, awaited: Double)] = [
            (0, 1, 1), (1, 1, 1), (2, 2, 2), (3, 4, 4), (4, 8, 8), (5, 16, 10), (9, 256, 10), (10, 300, 10),
            (.max, 300, 10),
        ]
        for row in table {
            #expect(Backoff.delay(attempts: row.attempts, jitter: 1) == row.alone)
            #expect(Backoff.delay(attempts: row.attempts, jitter: 1, isAwaited: true) == row.awaited)
            #expect(Backoff.delay(attempts: row.attempts, jitter: 0, isAwaited: true) == row.awaited / 2)
        }
    }

    @Test func withoutAReasonNothingIsRetriedEarly() {
        var earlyRetry = EarlyRetry()
        #expect(earlyRetry.next(isAwaited: false) == nil)
        #expect(earlyRetry.next(isAwaited: true) == -.infinity)
        earlyRetry.isSignalled = true
        #expect(earlyRetry.next(isAwaited: false) == -.infinity)
        _ = earlyRetry.begin(at: 100)
        #expect(earlyRetry.next(isAwaited: false) == nil, "the signal was for one try")
    }

    @Test func earlyRetriesBackOff() {
        var earlyRetry = EarlyRetry()
        for (now, pause) in [(0, 1), (1, 2), (3, 4), (7, 8), (15, 10), (25, 10)] as [(Double, Double)] {
            #expect(earlyRetry.begin(at: now) == 16)
            #expect(earlyRetry.next(isAwaited: true) == now + pause)
        }
        earlyRetry.isSignalled = true
        #expect(earlyRetry.next(isAwaited: false) == 35, "who signals without an end is not listened to more often")
        earlyRetry.help()
        #expect(earlyRetry.next(isAwaited: false) == 26)
        #expect(earlyRetry.begin(at: 26) == .max, "all go where one went")
        #expect(earlyRetry.begin(at: 27) == 16)
        earlyRetry.rest(at: 30)
        #expect(earlyRetry.next(isAwaited: true) == 31)
    }

    @Test func leastTriedItemsOfEachFolderAreRetriedFirst() {
        func item(_ number: UInt64, _ folder: UInt64, _ attempts: Int) -> FailedItem {
            FailedItem(number: ItemNumber(number), folder: ItemNumber(folder), attempts: attempts)
        }
        let failed = [item(1, 7, 3), item(2, 7, 1), item(3, 7, 1), item(4, 8, 9), item(5, 9, 2)]
        let table: [(limit: Int, numbers: [UInt64])] = [
            (0, []), (1, [2]), (2, [2, 5]), (3, [2, 5, 4]), (4, [2, 5, 4, 3]), (5, [2, 3, 5, 1, 4]),
            (.max, [2, 3, 5, 1, 4]),
        ]
        for row in table {
            #expect(itemsToRetry(failed, atMost: row.limit).map(\.rawValue) == row.numbers)
        }
        #expect(itemsToRetry([], atMost: 16).isEmpty)
    }
}
