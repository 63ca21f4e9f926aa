/// A parked reply, which any thread or task may take once. Answers EIO if the last reference is released before.
///
/// When the mount ends, the session answers all parked replies with ENOTCONN; ``take()`` then returns nil.
public final class ParkedReply<Answer>: Sendable {
    private let parked: ParkedRequest

    init(_ parked: ParkedRequest) {
        self.parked = parked
    }

    deinit {
        // No other thread can take it now; the dropped reply answers EIO.
        _ = take()
    }

    /// The reply for the first caller; nil for all others.
    public func take() -> Reply<Answer>? {
        guard let request = parked.take() else { return nil }
        return Reply(request: request, lot: parked.lot, wasParked: true)
    }

    /// Calls `handler` once when a signal interrupts the caller, immediately if that has already happened.
    ///
    /// This does not answer the request: usually the handler takes the reply and answers `.interrupted`.
    /// It runs on a worker thread and must not block. Only the last handler is kept.
    public func onInterrupt(_ handler: @escaping @Sendable () -> Void) {
        parked.onInterrupt(handler)
    }

    /// Whether a signal has interrupted the caller.
    public var isInterrupted: Bool {
        parked.isInterrupted
    }
}
