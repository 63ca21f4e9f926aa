internal import CCurl
internal import Threads

/// Makes requests over HTTP/1.1, all of them on one thread that only waits for the network (libcurl's multi interface).
/// Connections are reused. Redirects are ordinary answers; proxies are taken from the environment.
package final class HTTPClient: Sendable {
    private let loop: TransferLoop

    /// - Parameters:
    ///   - authorities: A file of trusted certificates (PEM); nil for the system's.
    ///   - socket: The path of a Unix domain socket on which the server listens, regardless of the host in URLs; nil
    ///     for TCP.
    ///   - connections: The maximum number of connections to one server.
    /// - Throws: ``HTTPFailure/unreachable(_:)`` if there is no thread or no memory left.
    package init(
        authorities: String? = nil, socket: String? = nil, connections: Int = 32
    ) throws(HTTPFailure) {
        loop = try TransferLoop(
            TransferLoop.Setting(authorities: authorities, socket: socket), connections: connections)
    }

    deinit { loop.close() }

    /// Cancels all requests in flight and all later ones, with ``HTTPFailure/cancelled``.
    package func close() { loop.close() }

    /// Makes a request and waits for its complete answer. Any status is an answer.
    package func answer(to request: HTTPRequest) async throws(HTTPFailure) -> HTTPAnswer {
        let number = loop.freshNumber()
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                loop.add(number, request) { continuation.resume(returning: $0) }
            }
        } onCancel: {
            loop.cancel(number)
        }
        return try outcome.get()
    }
}
