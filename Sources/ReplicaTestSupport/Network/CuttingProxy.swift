import Glibc
import Threads

/// A proxy between clients and a server on this machine that cuts connections, or is slow, for any protocol.
package final class CuttingProxy: Sendable {
    /// Its port, on this machine.
    package var port: UInt16 { acceptor.port }
    private let acceptor: Acceptor
    private let upstream: @Sendable () -> UInt16?
    private let limit: @Sendable (Int) -> Int?
    private let pace: @Sendable () -> Int?
    private let count = Locked(0)

    /// - Parameters:
    ///   - upstream: Returns the server's port; called for each connection. Nil while it has none.
    ///   - limit: The number of bytes, in both directions together, after which a connection is cut, given its number
    ///     from 1 on. Nil for never.
    ///   - pace: Returns how many bytes a second a connection passes each way; called for each piece. Nil for as many as
    ///     there are.
    package init(
        to upstream: @escaping @Sendable () -> UInt16?, limit: @escaping @Sendable (Int) -> Int?,
        pace: @escaping @Sendable () -> Int? = { nil }
    ) throws {
        (self.upstream, self.limit, self.pace) = (upstream, limit, pace)
        acceptor = try Acceptor()
        try acceptor.start { [weak self] client in self?.serve(client) }
    }

    /// Ends all connections, and accepts no others.
    package func close() { acceptor.close() }

    private func serve(_ client: StreamSocket) {
        guard let port = upstream(), let server = StreamSocket.connected(to: port) else { return }
        guard acceptor.enter(client, server) else { return }
        let number = count.withLock { count in
            count += 1
            return count
        }
        let (left, isOver) = (Locked(limit(number)), Latch())
        let pass: @Sendable (StreamSocket, StreamSocket) -> Void = { [pace] from, to in
            while true {
                let bytes = from.read()
                let count = left.withLock { left in
                    let count = min(bytes.count, left ?? bytes.count)
                    left = left.map { $0 - count }
                    return count
                }
                if let pace = pace() { usleep(UInt32(count * 1_000_000 / pace)) }
                guard count > 0, to.write(bytes.prefix(count)) else { break }
            }
            for socket in [from, to] { socket.shutDown() }
        }
        let isStarted = Thread.run {
            pass(server, client)
            isOver.open()
        }
        if isStarted {
            pass(client, server)
            isOver.wait()
        }
        acceptor.leave(client, server)
    }
}
