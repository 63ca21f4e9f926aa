internal import CFuse

/// A reply that waits: any thread or Task may take it, once. `EIO` when the last reference goes without that.
///
/// The session answers what is still parked when the mount ends (ENOTCONN); ``take()`` is nil after that.
public final class ParkedReply<Answer>: Sendable {
    let request: ParkedRequest

    init(_ request: ParkedRequest) {
        self.request = request
    }

    deinit {
        if let reply = take() { reply.fail(.ioError) }
    }

    /// The reply, for the first who asks; nil for all others.
    public func take() -> Reply<Answer>? {
        fatalError()
    }

    /// Calls `handler` once when the caller is interrupted by a signal, at once if that happened already.
    ///
    /// The request is not answered by that: the handler usually takes the reply and answers `.interrupted`.
    /// It runs on a worker thread, must not block, and must not call ``onInterrupt(_:)``. Only one handler is kept.
    public func onInterrupt(_ handler: @escaping @Sendable () -> Void) {
        fatalError()
    }

    /// Whether the caller was interrupted by a signal so far.
    public var isInterrupted: Bool {
        fatalError()
    }
}
