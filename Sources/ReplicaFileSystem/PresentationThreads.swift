internal import ReplicaModel
internal import Threads

/// The threads of this process that carry out remote changes through the mount: their requests are answered with
/// the prepared change. By thread, so that this process's other requests are handled normally.
final class PresentationThreads: Sendable {
    private struct Call {
        /// The change that the thread's request is for. An abandoned request that arrives late must not carry out a
        /// later change at the same place.
        var ticket: PresentationTicket
        /// Whether a request has proved that the thread reaches this mount.
        var isProven = false
    }

    /// By thread ID.
    private let threads = Locked<[Int32: Call]>([:])

    func enter(_ thread: Int32, _ ticket: PresentationTicket) {
        threads.withLock { $0[thread] = Call(ticket: ticket) }
    }

    func leave(_ thread: Int32) {
        threads.withLock { _ = $0.removeValue(forKey: thread) }
    }

    /// The change that a request of the thread is for; nil if the thread is not one of ours.
    func ticket(of thread: Int32) -> PresentationTicket? {
        threads.withLock { $0[thread]?.ticket }
    }

    /// A statfs request of the thread arrived here.
    func prove(_ thread: Int32) {
        threads.withLock { $0[thread]?.isProven = true }
    }

    func isProven(_ thread: Int32) -> Bool {
        threads.withLock { $0[thread]?.isProven == true }
    }
}
