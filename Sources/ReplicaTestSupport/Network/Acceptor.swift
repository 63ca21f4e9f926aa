import Threads

/// Listens on this machine, and serves each connection on a separate thread.
final class Acceptor: Sendable {
    private struct State {
        var open: [ObjectIdentifier: StreamSocket] = [:]
        var isClosed = false
    }

    let port: UInt16
    private let listener: StreamSocket
    private let state = Locked(State())

    init() throws { (listener, port) = try StreamSocket.listening() }

    /// - Parameter serve: Returns when the connection has ended.
    func start(_ serve: @escaping @Sendable (StreamSocket) -> Void) throws {
        let isStarted = Thread.run { [listener] in
            while let client = listener.accepted() { _ = Thread.run { serve(client) } }
        }
        if !isStarted { throw BrokenPromise("no thread is left") }
    }

    /// Ends all connections, and accepts no others.
    func close() {
        listener.shutDown()
        let open = state.withLock { state in
            state.isClosed = true
            return Array(state.open.values)
        }
        for socket in open { socket.shutDown() }
    }

    /// Makes ``close()`` end these sockets.
    /// - Returns: False if it was already closed.
    func enter(_ sockets: StreamSocket...) -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            for socket in sockets { state.open[ObjectIdentifier(socket)] = socket }
            return true
        }
    }

    func leave(_ sockets: StreamSocket...) {
        state.withLock { state in
            for socket in sockets { state.open[ObjectIdentifier(socket)] = nil }
        }
    }
}
