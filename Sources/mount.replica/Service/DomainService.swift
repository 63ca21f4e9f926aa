import ReplicaControl
import SystemPackage

/// What answers the requests on a domain's control socket.
protocol DomainService: Sendable {
    /// Answers one request. Runs in a task of its own, several at a time; the task is cancelled when the client goes
    /// away. What it throws becomes the request's failure (``ControlFailure/init(_:)``).
    ///
    /// The answer reaches the client before ``ControlServer/stop()`` returns, so a request that ends the daemon
    /// answers first and lets somebody else stop the server.
    func answer(_ request: ControlRequest, events: EventSink) async throws -> ControlAnswer
}

/// Where a request's events go while it is under way.
struct EventSink: Sendable {
    /// Queues one event; suspends while the client is slow to read. Throws `CancellationError` when it is gone.
    let send: @Sendable (ControlEvent) async throws(CancellationError) -> Void
}

extension ControlFailure {
    /// The failure that stands for any error: itself, an errno by its meaning, or `failed` with its description.
    init(_ error: any Error) {
        switch error {
        case let failure as ControlFailure: self = failure
        case let errno as Errno:
            let (code, words) = ErrnoText.reason(errno)
            self.init(code, words)
        case is CancellationError: self.init(.interrupted, "the request was cancelled")
        default: self.init(.failed, "\(error)")
        }
    }
}
