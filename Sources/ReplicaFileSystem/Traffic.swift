internal import ReplicaModel

/// Counts the requests for data that reach the daemon: none do for files that the kernel reads and writes itself.
package final class Traffic: Sendable {
    private let counts = Locked((reads: 0, writes: 0))

    /// How many reads the daemon was asked for.
    package var reads: Int { counts.withLock { $0.reads } }
    /// How many writes the daemon was asked for.
    package var writes: Int { counts.withLock { $0.writes } }

    func countRead() { counts.withLock { $0.reads += 1 } }
    func countWrite() { counts.withLock { $0.writes += 1 } }
}
