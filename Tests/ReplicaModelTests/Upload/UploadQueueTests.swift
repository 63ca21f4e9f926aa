import Testing

@testable import ReplicaModel

@Suite struct UploadQueueTests {
    private func number(_ raw: UInt64) -> ItemNumber { ItemNumber(raw) }

    @Test func itemsAreQueuedOnceAndInOrder() {
        var uploadQueue = UploadQueue()
        uploadQueue.add([number(3), number(1), number(3)])
        #expect(uploadQueue.pop() == number(3))
        uploadQueue.add([number(3)])
        #expect(uploadQueue.pop() == number(1))
        #expect(uploadQueue.pop() == number(3))
        #expect(uploadQueue.pop() == nil)
    }

    @Test func aWaitingItemFollowsItsPredecessor() {
        var uploadQueue = UploadQueue()
        uploadQueue.wait(number(2), for: number(1))
        #expect(uploadQueue.pop() == nil)
        uploadQueue.ended(number(1))
        #expect(uploadQueue.pop() == number(2))
        #expect(uploadQueue.pop() == number(1))
    }

    @Test func alarmsFireInOrderOfTime() {
        var uploadQueue = UploadQueue()
        uploadQueue.wait(number(1), until: 30)
        uploadQueue.wait(number(2), until: 10)
        #expect(uploadQueue.nextAlarm == 10)
        uploadQueue.addDue(at: 20)
        #expect(uploadQueue.pop() == number(2))
        #expect(uploadQueue.pop() == nil)
        #expect(uploadQueue.nextAlarm == 30)
    }

    @Test func aCycleOfWaitersIsBrokenOnlyWhenIdle() {
        var uploadQueue = UploadQueue()
        uploadQueue.wait(number(2), for: number(1))
        uploadQueue.wait(number(1), for: number(2))
        #expect(uploadQueue.resolveDeadlock() == [number(1), number(2)])
        #expect(uploadQueue.pop() == number(2))
        #expect(uploadQueue.pop() == number(1))
        uploadQueue.wait(number(2), for: number(1))
        uploadQueue.ended(number(9))
        #expect(uploadQueue.resolveDeadlock().isEmpty, "something ended since: they look again first")
    }

    /// The members of a cycle are only certain when no task has uncounted calls.
    @Test func theQueueIsNotEmptyWhileAnotherSenderChooses() {
        var uploadQueue = UploadQueue()
        uploadQueue.wait(number(2), for: number(1))
        uploadQueue.beginChoosing()
        uploadQueue.beginChoosing()
        #expect(uploadQueue.resolveDeadlock().isEmpty)
        uploadQueue.endChoosing(4)
        #expect(uploadQueue.inFlight == 4)
        #expect(uploadQueue.resolveDeadlock().isEmpty)
        uploadQueue.inFlight = 0
        #expect(uploadQueue.resolveDeadlock() == [number(1)])
        uploadQueue.endChoosing(0)
    }

    /// Items that wait for others, while nothing is in flight, are a reason for one task to look again.
    @Test func itemsThatWaitForNoCallAreReady() {
        var queue = UploadQueue()
        let before = queue.takeWorker(4)
        queue.wait(ItemNumber(2), for: ItemNumber(1))
        let workers = [queue.takeWorker(4), queue.takeWorker(4)]
        #expect(!before)
        #expect(workers == [true, false])
    }
}
