import PathStore
import ReplicaModel
import Threads

/// Calls of a ``MemoryPathStorage`` that fail as a seed says: some before anything is done, some after, with the answer
/// lost.
package final class FailureSchedule: Sendable {
    private let state: Locked<UInt64>
    private let percent: UInt64
    private let isOver = Locked(false)

    /// - Parameter percent: Of how many calls in a hundred fail, each of the two ways.
    package init(seed: UInt64, percent: UInt64) {
        state = Locked(seed)
        self.percent = percent
    }

    /// Has `storage` fail from now on.
    package func begin(on storage: MemoryPathStorage) {
        storage.before = { [self] (_) async throws(PathStorageError) in try fail("no way there") }
        storage.after = { [self] (_) async throws(PathStorageError) in try fail("the answer is lost") }
    }

    /// Lets all calls through from now on.
    package func end() { isOver.withLock { $0 = true } }

    private func fail(_ text: String) throws(PathStorageError) {
        let number = state.withLock { state in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 33
        }
        if number % 100 < percent, !isOver.withLock({ $0 }) { throw .unreachable(text) }
    }
}
