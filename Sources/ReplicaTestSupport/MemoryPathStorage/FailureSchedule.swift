import PathStore
import ReplicaModel
import Threads

/// Makes calls of a ``MemoryPathStorage`` fail, chosen by a seed: some before they have an effect, some afterwards,
/// with the answer lost.
package final class FailureSchedule: Sendable {
    private let state: Locked<UInt64>
    private let percent: UInt64
    private let isOver = Locked(false)

    /// - Parameter percent: The percentage of calls that fail in each of the two ways.
    package init(seed: UInt64, percent: UInt64) {
        state = Locked(seed)
        self.percent = percent
    }

    /// Makes calls of `storage` fail from now on.
    package func begin(on storage: MemoryPathStorage) {
        storage.before = { [self] (_) async throws(PathStorageError) in try fail("no way there") }
        storage.after = { [self] (_) async throws(PathStorageError) in try fail("the answer is lost") }
    }

    /// Lets all calls pass from now on.
    package func end() { isOver.withLock { $0 = true } }

    private func fail(_ text: String) throws(PathStorageError) {
        let number = state.withLock { state in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 33
        }
        if number % 100 < percent, !isOver.withLock({ $0 }) { throw .unreachable(text) }
    }
}
