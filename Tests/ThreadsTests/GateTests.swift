import Testing
import Threads

@Suite struct GateTests {
    @Test func aThreadWaitsForTheValue() throws {
        let gate = Gate(0)
        let thread = try #require(Thread { gate.wait(until: { $0 == 2 }, { $0 = 3 }) })
        gate.withLock { $0 = 1 }
        gate.withLock { $0 = 2 }
        thread.join()
        #expect(gate.withLock { $0 } == 3)
    }

    @Test func allWaitersContinue() throws {
        let isOpen = Gate(false)
        let threads = try (0..<8).map { _ in try #require(Thread { isOpen.wait { $0 } }) }
        isOpen.withLock { $0 = true }
        for thread in threads { thread.join() }
    }

    @Test func aWaitTimesOut() {
        let gate = Gate(false)
        let start = ContinuousClock.now
        #expect(!gate.wait(seconds: 0.02, until: { $0 }, { _, isReady in isReady }))
        #expect(ContinuousClock.now - start >= .milliseconds(20))
        #expect(gate.wait(seconds: 0, until: { !$0 }, { _, isReady in isReady }))
    }

    @Test func aChangeEndsAWaitWithATimeout() throws {
        let gate = Gate(false)
        let wasReady = Gate(false)
        let thread = try #require(
            Thread {
                let isReady = gate.wait(seconds: 600, until: { $0 }, { _, isReady in isReady })
                wasReady.withLock { $0 = isReady }
            })
        gate.withLock { $0 = true }
        thread.join()
        #expect(wasReady.withLock { $0 })
    }

    /// Sixteen threads wait for tickets. Each ticket has one of them look: it finds the ticket, and then none. Were all of them
    /// woken, they would look 1,600 times.
    @Test func aTicketWakesOneThread() throws {
        let tickets = Gate(0)
        let looks = Gate(0)
        let served = Gate(0)
        let threads = try (0..<16).map { _ in
            try #require(
                Thread {
                    while tickets.wait(until: { $0 != 0 || !count(looks) }, { take(&$0) }) {
                        served.withLock { $0 += 1 }
                    }
                })
        }
        looks.wait { $0 == 16 }
        for number in 1...100 {
            tickets.withLockWakingOne { $0 = 1 }
            served.wait { $0 == number }
        }
        #expect(looks.withLock { $0 } < 300)
        tickets.withLock { $0 = -1 }
        for thread in threads { thread.join() }
        #expect(served.withLock { $0 } == 100)
    }

    /// Counts a look at a value that says to go on waiting.
    private func count(_ looks: Gate<Int>) -> Bool {
        looks.withLock { $0 += 1 }
        return true
    }

    /// Takes a ticket; false when there will be no more.
    private func take(_ tickets: inout Int) -> Bool {
        guard tickets > 0 else { return false }
        tickets -= 1
        return true
    }
}
