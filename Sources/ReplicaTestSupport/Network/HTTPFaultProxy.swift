import Glibc
import Threads

/// An HTTP/1.1 proxy between clients and a server on this machine that applies planned faults to requests. One thread
/// for each connection; all end with the proxy.
package final class HTTPFaultProxy: Sendable {
    /// Returns the fault of a request; nil for none. Called once for each, on any thread.
    package typealias Plan = @Sendable (HTTPMessage) -> HTTPFault?

    /// Its port, on this machine.
    package var port: UInt16 { acceptor.port }
    private let acceptor: Acceptor
    private let upstream: @Sendable () -> UInt16?
    private let plan: Plan

    /// - Parameter upstream: Returns the server's port; called for each connection. Nil while it has none.
    package init(to upstream: @escaping @Sendable () -> UInt16?, plan: @escaping Plan) throws {
        (self.upstream, self.plan) = (upstream, plan)
        acceptor = try Acceptor()
        try acceptor.start { [weak self] client in self?.serve(client) }
    }

    /// Ends all connections, and accepts no others.
    package func close() { acceptor.close() }

    private func serve(_ client: StreamSocket) {
        guard acceptor.enter(client) else { return }
        defer { acceptor.leave(client) }
        var (requests, line) = (HTTPReader(client), Line?.none)
        while let request = requests.request(expected: { client.write("HTTP/1.1 100 Continue\r\n\r\n".utf8) }) {
            let fault = plan(request)
            let isUnseen = fault.map { $0.answer != nil && $0 != .gatewayTimeout } ?? false
            if isUnseen, let fault, let answer = fault.answer {
                guard client.write(request.words.first == "HEAD" ? answer.head : answer.bytes) else { break }
                continue
            }
            if line == nil { line = connect() }
            guard var server = line, pass(request, fault, client, &server) else { break }
            line = server
        }
        if let server = line?.socket { acceptor.leave(server) }
    }

    private struct Line {
        let socket: StreamSocket
        var answers: HTTPReader
    }

    private func connect() -> Line? {
        guard let port = upstream(), let socket = StreamSocket.connected(to: port), acceptor.enter(socket) else {
            return nil
        }
        return Line(socket: socket, answers: HTTPReader(socket))
    }

    /// - Returns: Whether the connection continues.
    private func pass(
        _ request: HTTPMessage, _ fault: HTTPFault?, _ client: StreamSocket, _ server: inout Line
    ) -> Bool {
        switch fault {
        case .lostRequest:
            client.resetAtTheEnd()
            return false
        case .silence:
            client.waitForTheEnd()
            return false
        case .cutRequest:
            let part = request.body.isEmpty ? request.head.count / 2 : request.head.count + request.body.count / 2
            server.socket.write(request.bytes.prefix(part))
            client.resetAtTheEnd()
            return false
        default: break
        }
        let isHead = request.words.first == "HEAD"
        // Requests that create a new object each time are not duplicated: the first one would stay unknown.
        if fault == .sentTwice, request.words.first != "POST" {
            guard server.socket.write(request.bytes), server.answers.answer(isHead: isHead) != nil else {
                return false
            }
        }
        guard Self.carry(request.bytes, to: server.socket, fault), let answer = server.answers.answer(isHead: isHead)
        else { return false }
        let half = answer.body.isEmpty ? answer.head.count / 2 : answer.head.count + answer.body.count / 2
        switch fault {
        case .lostAnswer:
            client.resetAtTheEnd()
            return false
        case .cutAnswer:
            client.write(answer.bytes.prefix(half))
            return false
        case .silenceAfter:
            client.waitForTheEnd()
            return false
        case .silenceWithin:
            client.write(answer.bytes.prefix(half))
            client.waitForTheEnd()
            return false
        case .gatewayTimeout:
            guard let failure = fault?.answer else { return false }
            return client.write(isHead ? failure.head : failure.bytes)
        default: return Self.carry(answer.bytes, to: client, fault)
        }
    }

    /// At the pace of a fault: a third of a second late, or in twenty parts over half a second.
    private static func carry(_ bytes: [UInt8], to socket: StreamSocket, _ fault: HTTPFault?) -> Bool {
        if fault == .slow { usleep(300_000) }
        guard fault == .throttled else { return socket.write(bytes) }
        for start in stride(from: 0, to: bytes.count, by: bytes.count / 20 + 1) {
            usleep(25_000)
            guard socket.write(bytes[start..<min(bytes.count, start + bytes.count / 20 + 1)]) else { return false }
        }
        return true
    }
}
