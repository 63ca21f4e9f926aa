internal import CCurl
internal import Threads

/// Makes requests over HTTP/1.1, all of them on one thread that waits for the network only (libcurl's multi interface).
/// Connections are kept and used again. Redirects are answers as others are; proxies are those of the environment.
package final class HTTPClient: Sendable {
    private let loop: TransferLoop

    /// - Parameters:
    ///   - authorities: A file of trusted certificates (PEM); nil for the system's.
    ///   - socket: The path of a Unix domain socket that the server listens on, whatever host the URLs name; nil for TCP.
    ///   - connections: How many there are to one server at most.
    /// - Throws: ``HTTPFailure/unreachable(_:)`` where no thread or no memory is left.
    package init(
        authorities: String? = nil, socket: String? = nil, connections: Int = 32
    ) throws(HTTPFailure) {
        loop = try TransferLoop(
            TransferLoop.Setting(authorities: authorities, socket: socket), connections: connections)
    }

    deinit { loop.close() }

    /// Ends all that is under way, and whatever is asked later, as ``HTTPFailure/cancelled``.
    package func close() { loop.close() }

    /// Makes a request and waits for all of its answer. Any status is an answer.
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
