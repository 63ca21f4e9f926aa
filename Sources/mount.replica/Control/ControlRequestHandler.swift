import ReplicaControl
import SystemPackage

/// Answers the requests on a domain's control socket.
protocol ControlRequestHandler: Sendable {
    /// Answers one request. Runs concurrently, in a task per request, which is cancelled when the client
    /// disconnects. A thrown error becomes the request's failure (``ControlFailure/init(_:)``).
    ///
    /// The answer reaches the client before ``ControlServer/stop()`` returns, so a request that stops the daemon
    /// answers first and lets another thread stop the server.
    func answer(_ request: ControlRequest, events: EventSink) async throws -> ControlAnswer
}

/// Receives a request's events.
struct EventSink: Sendable {
    /// Queues one event; suspends while the client reads slowly. Throws `CancellationError` if it has disconnected.
    let send: @Sendable (ControlEvent) async throws(CancellationError) -> Void
}

extension ControlFailure {
    /// The failure for any error: itself, the meaning of an errno, or `failed` with its description.
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
