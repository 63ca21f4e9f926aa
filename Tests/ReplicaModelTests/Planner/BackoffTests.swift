import Testing

@testable import ReplicaModel

@Suite struct BackoffTests {
    @Test func delaysGrowToFiveMinutes() {
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
