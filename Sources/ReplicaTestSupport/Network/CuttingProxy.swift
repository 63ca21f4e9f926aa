import Threads

/// Stands between clients and a server of this machine, whatever they speak, and breaks connections off.
package final class CuttingProxy: Sendable {
    private struct State {
        var open: [ObjectIdentifier: StreamSocket] = [:]
        var count = 0
        var isClosed = false
    }

    /// Where it listens, on this machine.
    package let port: UInt16
    private let listener: StreamSocket
    private let upstream: @Sendable () -> UInt16?
    private let limit: @Sendable (Int) -> Int?
    private let state = Locked(State())

    /// - Parameters:
    ///   - upstream: The server's port, asked for at each connection to it; nil while it has none.
    ///   - limit: After how many bytes, of both directions together, a connection ends; they are counted from 1. Nil for never.
    package init(
        to upstream: @escaping @Sendable () -> UInt16?, limit: @escaping @Sendable (Int) -> Int?
    ) throws {
        (self.upstream, self.limit) = (upstream, limit)
        (listener, port) = try StreamSocket.listening()
        let isStarted = Thread.run { [weak self, listener] in
            while let client = listener.accepted() {
                guard let proxy = self else { return }
                _ = Thread.run { proxy.serve(client) }
            }
        }
        if !isStarted { throw BrokenPromise("no thread is left") }
    }

    /// Ends all connections, and takes no others.
    package func close() {
        listener.shutDown()
        let open = state.withLock { state in
            state.isClosed = true
            return Array(state.open.values)
        }
        for socket in open { socket.shutDown() }
    }

    private func serve(_ client: StreamSocket) {
        guard let port = upstream(), let server = StreamSocket.connected(to: port) else { return }
        let number = state.withLock { state -> Int? in
            guard !state.isClosed else { return nil }
            for socket in [client, server] { state.open[ObjectIdentifier(socket)] = socket }
            state.count += 1
            return state.count
        }
        guard let number else { return }
        let (left, isOver) = (Locked(limit(number)), Latch())
        let pass: @Sendable (StreamSocket, StreamSocket) -> Void = { from, to in
            while true {
                let bytes = from.read()
                let count = left.withLock { left in
                    let count = min(bytes.count, left ?? bytes.count)
                    left = left.map { $0 - count }
                    return count
                }
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
        state.withLock { state in
            for socket in [client, server] { state.open[ObjectIdentifier(socket)] = nil }
        }
    }
}
