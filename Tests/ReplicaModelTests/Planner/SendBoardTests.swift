import Testing

@testable import ReplicaModel

@Suite struct SendBoardTests {
    private func number(_ raw: UInt64) -> ItemNumber { ItemNumber(raw) }

    @Test func eachIsQueuedOnceAndInOrder() {
        var board = SendBoard()
        board.add([number(3), number(1), number(3)])
        #expect(board.pop() == number(3))
        board.add([number(3)])
        #expect(board.pop() == number(1))
        #expect(board.pop() == number(3))
        #expect(board.pop() == nil)
    }

    @Test func whoWaitsComesWhenTheOtherEnds() {
        var board = SendBoard()
        board.wait(number(2), for: number(1))
        #expect(board.pop() == nil)
        board.ended(number(1))
        #expect(board.pop() == number(2))
        #expect(board.pop() == number(1))
    }

    @Test func alarmsComeInTheOrderOfTime() {
        var board = SendBoard()
        board.wait(number(1), until: 30)
        board.wait(number(2), until: 10)
        #expect(board.nextAlarm == 10)
        board.addDue(at: 20)
        #expect(board.pop() == number(2))
        #expect(board.pop() == nil)
        #expect(board.nextAlarm == 30)
    }

    @Test func aRingOfWaitersNamesOneOnlyWhenNothingMoves() {
        var board = SendBoard()
        board.wait(number(2), for: number(1))
        board.wait(number(1), for: number(2))
        #expect(board.runDry() == [number(1), number(2)])
        #expect(board.pop() == number(2))
        #expect(board.pop() == number(1))
        board.wait(number(2), for: number(1))
        board.ended(number(9))
        #expect(board.runDry().isEmpty, "something ended since: they look again first")
    }

    /// Who is in a ring is only certain when nobody has calls that he has not counted yet.
    @Test func nothingIsDryWhileAnotherChooses() {
        var board = SendBoard()
        board.wait(number(2), for: number(1))
        board.beginChoosing()
        board.beginChoosing()
        #expect(board.runDry().isEmpty)
        board.endChoosing(4)
        #expect(board.inFlight == 4)
        #expect(board.runDry().isEmpty)
        board.inFlight = 0
        #expect(board.runDry() == [number(1)])
        board.endChoosing(0)
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
}
