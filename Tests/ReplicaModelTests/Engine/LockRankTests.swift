import Testing
import Threads

@testable import ReplicaModel

@Suite struct LockRankTests {
    private static let ranks: [LockRank] = [
        .durable, .recording, .openFile, .fill, .tree, .storeEvents, .storeScan, .storeIndex, .leaf, .innermost,
    ]

    /// Every correct order is allowed, and leaves no state behind.
    @Test func aHigherRankMayBeTaken() {
        for (index, first) in Self.ranks.enumerated() {
            for second in Self.ranks[(index + 1)...] {
                Locked((), rank: first).withLock { _ in Locked((), rank: second).withLock { _ in } }
            }
        }
        Locked((), rank: .durable).withLock { _ in }
    }

    #if DEBUG
        /// Two of one rank, or a lower one: the process terminates, instead of deadlocking some day.
        @Test func takingALowerRankTerminates() async {
            await #expect(processExitsWith: .failure) {
                Locked((), rank: .leaf).withLock { _ in Locked(()).withLock { _ in } }
            }
            await #expect(processExitsWith: .failure) {
                Locked((), rank: .tree).withLock { _ in Locked((), rank: .recording).withLock { _ in } }
            }
        }
    #endif
}
