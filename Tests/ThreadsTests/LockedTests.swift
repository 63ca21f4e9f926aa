import Glibc
import Testing
import Threads

@Suite struct LockedTests {
    @Test func oneThreadAtATimeHasTheValue() throws {
        let count = Locked(0)
        let threads = try (0..<8).map { _ in
            try #require(
                Thread {
                    for _ in 0..<500 {
                        count.withLock {
                            let old = $0
                            sched_yield()
                            $0 = old + 1
                        }
                    }
                })
        }
        for thread in threads { thread.join() }
        #expect(count.withLock { $0 } == 4_000)
    }

    @Test func theLockIsReleasedAfterAnError() {
        struct Failure: Error {}
        let value = Locked(0)
        #expect(throws: Failure.self) { try value.withLock { _ throws(Failure) in throw Failure() } }
        #expect(value.withLock { $0 } == 0)
    }

    #if DEBUG
        /// A lock of the same rank or a lower one: the process terminates, instead of deadlocking some day.
        @Test func locksAreTakenInTheOrderOfTheirRanks() async {
            Locked((), rank: .leaf).withLock { _ in Locked((), rank: .innermost).withLock { _ in } }
            await #expect(processExitsWith: .failure) {
                Locked(()).withLock { _ in Locked(()).withLock { _ in } }
            }
            await #expect(processExitsWith: .failure) {
                Locked((), rank: .innermost).withLock { _ in Locked(()).withLock { _ in } }
            }
        }
    #endif
}
