import Glibc
package import SystemPackage

/// A connection to a daemon for sequential requests. Blocks its thread: meant for commands, not for servers.
package final class ControlClient {
    private let socket: FileDescriptor
    private var received = LineBuffer()
    private var requests = 0

    /// Connects to the daemon of the domain with this state directory; throws `notRunning` if there is none.
    package init(state: FilePath) throws(ControlFailure) {
        socket = try ControlSocket.connect(state: state)
    }

    /// A connection, or nil if no daemon is running.
    package static func ifRunning(state: FilePath) throws(ControlFailure) -> ControlClient? {
        do { return try ControlClient(state: state) } catch {
            // No `catch where`: Swift 6.3.1 crashes on it when the throws are typed.
            if error.code == .notRunning { return nil }
            throw error
        }
    }

    /// The daemon's process ID, if it is known.
    package var daemonProcess: Int32? {
        do { return try ControlSocket.peer(of: socket).process } catch { return nil }
    }

    deinit {
        _ = Glibc.close(socket.rawValue)
    }

    /// Sends a request and returns its answer, or throws its failure. Events are passed to `onEvent` as they arrive.
    ///
    /// `timeout` is in seconds for the whole request; afterwards `timedOut` is thrown and the connection must not be
    /// used again: closing it cancels the request.
    package func request(
        _ request: ControlRequest, timeout: Double? = nil, onEvent: (ControlEvent) throws -> Void = { _ in }
    ) throws -> ControlAnswer {
        requests += 1
        let deadline = timeout.map { ContinuousClock.now + .seconds($0) }
        try send(try ControlLine.encode(RequestLine(id: requests, request: request)))
        while true {
            let line: [UInt8]
            do throws(ControlFailure) { line = try nextLine(deadline: deadline) } catch {
                guard error.code == .timedOut, let timeout else { throw error }
                throw ControlFailure(.timedOut, "timed out after \(Self.words(timeout))")
            }
            let reply: ReplyLine
            do { reply = try ControlLine.decode(ReplyLine.self, from: line) } catch {
                throw ControlFailure(.wrongProtocol, "the daemon's answer is invalid")
            }
            if let failure = reply.failure { throw failure }
            guard reply.id == requests else { continue }
            if let event = reply.event { try onEvent(event) }
            if let answer = reply.answer { return answer }
        }
    }

    /// `90 s`, `0.5 s`.
    private static func words(_ seconds: Double) -> String {
        seconds == seconds.rounded() && abs(seconds) < 1e15 ? "\(Int64(seconds)) s" : "\(seconds) s"
    }

    private func send(_ line: [UInt8]) throws(ControlFailure) {
        var rest = line[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(socket.rawValue, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0 {
                if errno == EINTR { continue }
                throw ControlFailure(.notRunning, "the connection to the daemon was lost: \(Errno(rawValue: errno))")
            }
            rest.removeFirst(count)
        }
    }

    private func nextLine(deadline: ContinuousClock.Instant?) throws(ControlFailure) -> [UInt8] {
        while true {
            if let line = try received.next() { return line }
            try waitForInput(deadline: deadline)
            var buffer = [UInt8](repeating: 0, count: 65536)
            let count = recv(socket.rawValue, &buffer, buffer.count, 0)
            if count == 0 { throw ControlFailure(.notRunning, "the connection to the daemon was lost") }
            if count < 0 {
                if errno == EINTR { continue }
                throw ControlFailure(.notRunning, "the connection to the daemon was lost: \(Errno(rawValue: errno))")
            }
            received.append(buffer.prefix(count))
        }
    }

    private func waitForInput(deadline: ContinuousClock.Instant?) throws(ControlFailure) {
        while true {
            var milliseconds: Int32 = -1
            if let deadline {
                let left = (deadline - .now) / .milliseconds(1)
                if left <= 0 { throw ControlFailure(.timedOut, "timed out") }
                milliseconds = Int32(min(left.rounded(.up), 1e9))
            }
            var descriptor = pollfd(fd: socket.rawValue, events: Int16(POLLIN), revents: 0)
            if poll(&descriptor, 1, milliseconds) > 0 { return }
        }
    }
}
