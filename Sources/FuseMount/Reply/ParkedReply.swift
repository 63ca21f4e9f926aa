/// A reply that waits: any thread or Task may take it, once. `EIO` when the last reference goes without that.
///
/// The session answers what is still parked when the mount ends (ENOTCONN); ``take()`` is nil after that.
public final class ParkedReply<Answer>: Sendable {
    private let parked: ParkedRequest

    init(_ parked: ParkedRequest) {
        self.parked = parked
    }

    deinit {
        // Nobody else can take it now; the reply answers EIO by being dropped.
        _ = take()
    }

    /// The reply, for the first who asks; nil for all others.
    public func take() -> Reply<Answer>? {
        guard let request = parked.take() else { return nil }
        return Reply(request: request, lot: parked.lot, wasParked: true)
    }

    /// Calls `handler` once when the caller is interrupted by a signal, at once if that happened already.
    ///
    /// The request is not answered by that: the handler usually takes the reply and answers `.interrupted`.
    /// It runs on a worker thread and must not block. Only the last handler is kept.
    public func onInterrupt(_ handler: @escaping @Sendable () -> Void) {
        parked.onInterrupt(handler)
    }

    /// Whether the caller was interrupted by a signal so far.
    public var isInterrupted: Bool {
        parked.isInterrupted
    }
}
