import Testing

@testable import ReplicaModel

@Suite struct UploadQueueTests {
    private func number(_ raw: UInt64) -> ItemNumber { ItemNumber(raw) }

    @Test func eachIsQueuedOnceAndInOrder() {
        var uploadQueue = UploadQueue()
        uploadQueue.add([number(3), number(1), number(3)])
        #expect(uploadQueue.pop() == number(3))
        uploadQueue.add([number(3)])
        #expect(uploadQueue.pop() == number(1))
        #expect(uploadQueue.pop() == number(3))
        #expect(uploadQueue.pop() == nil)
    }

    @Test func whoWaitsComesWhenTheOtherEnds() {
        var uploadQueue = UploadQueue()
        uploadQueue.wait(number(2), for: number(1))
        #expect(uploadQueue.pop() == nil)
        uploadQueue.ended(number(1))
        #expect(uploadQueue.pop() == number(2))
        #expect(uploadQueue.pop() == number(1))
    }

    @Test func alarmsComeInTheOrderOfTime() {
        var uploadQueue = UploadQueue()
        uploadQueue.wait(number(1), until: 30)
        uploadQueue.wait(number(2), until: 10)
        #expect(uploadQueue.nextAlarm == 10)
        uploadQueue.addDue(at: 20)
        #expect(uploadQueue.pop() == number(2))
        #expect(uploadQueue.pop() == nil)
        #expect(uploadQueue.nextAlarm == 30)
    }

    @Test func aRingOfWaitersNamesOneOnlyWhenNothingMoves() {
        var uploadQueue = UploadQueue()
        uploadQueue.wait(number(2), for: number(1))
        uploadQueue.wait(number(1), for: number(2))
        #expect(uploadQueue.runDry() == [number(1), number(2)])
        #expect(uploadQueue.pop() == number(2))
        #expect(uploadQueue.pop() == number(1))
        uploadQueue.wait(number(2), for: number(1))
        uploadQueue.ended(number(9))
        #expect(uploadQueue.runDry().isEmpty, "something ended since: they look again first")
    }

    /// The members of a cycle are only certain when no task has uncounted calls.
    @Test func nothingIsDryWhileAnotherChooses() {
        var uploadQueue = UploadQueue()
        uploadQueue.wait(number(2), for: number(1))
        uploadQueue.beginChoosing()
        uploadQueue.beginChoosing()
        #expect(uploadQueue.runDry().isEmpty)
        uploadQueue.endChoosing(4)
        #expect(uploadQueue.inFlight == 4)
        #expect(uploadQueue.runDry().isEmpty)
        uploadQueue.inFlight = 0
        #expect(uploadQueue.runDry() == [number(1)])
        uploadQueue.endChoosing(0)
    }

    @Test func backoffGrowsToFiveMinutes() {
        let delays = (1...20).map { Backoff.delay(attempts: $0, jitter: 1) }
        #expect(delays == delays.sorted())
        #expect(delays.first == 1)
        #expect(delays.last == 300)
        for attempts in [0, 1, 5, 100, .max] {
            let least = Backoff.delay(attempts: attempts, jitter: 0)
            #expect(least * 2 == Backoff.delay(attempts: attempts, jitter: 1))
        }
    }

    /// Items that wait for others, while nothing is in flight, are a reason for one task to look again.
    @Test func whatWaitsForNothingInFlightIsWork() {
        var queue = UploadQueue()
        let before = queue.takeWorker(4)
        queue.wait(ItemNumber(2), for: ItemNumber(1))
        let workers = [queue.takeWorker(4), queue.takeWorker(4)]
        #expect(!before)
        #expect(workers == [true, false])
    }
}
