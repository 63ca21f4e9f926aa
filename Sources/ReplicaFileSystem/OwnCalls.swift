internal import ReplicaModel

/// The threads of this process that carry remote changes out through the mount: their changing requests are answered
/// by what they stand for. By thread, so that what else this process does there stays ordinary.
final class OwnCalls: Sendable {
    /// Whether the thread's request proved that it reaches this very mount, by thread id.
    private let threads = Locked<[Int32: Bool]>([:])

    func enter(_ thread: Int32) {
        threads.withLock { $0[thread] = false }
    }

    func leave(_ thread: Int32) {
        threads.withLock { _ = $0.removeValue(forKey: thread) }
    }

    func contains(_ thread: Int32) -> Bool {
        threads.withLock { $0[thread] != nil }
    }

    /// A statfs of the thread arrived here.
    func prove(_ thread: Int32) {
        threads.withLock { threads in
            if threads[thread] != nil { threads[thread] = true }
        }
    }

    func isProven(_ thread: Int32) -> Bool {
        threads.withLock { $0[thread] == true }
    }
}
