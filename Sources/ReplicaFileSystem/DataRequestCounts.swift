internal import ReplicaModel
internal import Threads

/// Counts the data requests that reach the daemon, which excludes files that the kernel reads and writes directly.
package final class DataRequestCounts: Sendable {
    private let counts = Locked((reads: 0, writes: 0))

    /// The number of read requests.
    package var reads: Int { counts.withLock { $0.reads } }
    /// The number of write requests.
    package var writes: Int { counts.withLock { $0.writes } }

    func countRead() { counts.withLock { $0.reads += 1 } }
    func countWrite() { counts.withLock { $0.writes += 1 } }
}
