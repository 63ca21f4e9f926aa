internal import ReplicaModel
internal import Threads

/// The threads of this process that carry out remote changes through the mount: their requests are answered with
/// the prepared change. By thread, so that this process's other requests are handled normally.
final class OwnCalls: Sendable {
    /// Whether a request has proved that the thread reaches this mount, by thread ID.
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

    /// A statfs request of the thread arrived here.
    func prove(_ thread: Int32) {
        threads.withLock { threads in
            if threads[thread] != nil { threads[thread] = true }
        }
    }

    func isProven(_ thread: Int32) -> Bool {
        threads.withLock { $0[thread] == true }
    }
}
