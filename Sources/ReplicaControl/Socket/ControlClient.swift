import Glibc
package import SystemPackage

/// A connection to a daemon for sequential requests. Blocks its thread: meant for commands, not for servers.
///
/// No request waits for a daemon that hangs: while an answer is awaited, the daemon is asked for a sign of life on the same
/// connection (`hello`), and without one the request fails with `timedOut`. How long the request itself takes does not matter.
package final class ControlClient {
    private let socket: FileDescriptor
    private let subject: String
    private var received = ControlLineBuffer()
    private var requests = 0
    /// How many more seconds may pass before something is received.
    private var inputLimitSeconds = ControlClient.quietSeconds

    /// Seconds after which a daemon that has sent nothing is asked for a sign of life.
    private static let quietSeconds = 2.0
    /// The same after it has given one: a request may take hours.
    private static let pauseSeconds = 10.0
    /// Seconds within which it must send something then.
    private static let signSeconds = 8.0

    /// Connects to the daemon of the domain with this state directory; throws `notRunning` if there is none.
    /// - Parameter name: The domain's name, with which the message about a daemon that hangs begins; nil if the caller
    ///   says it.
    package init(state: FilePath, name: DomainName? = nil) throws(ControlFailure) {
        subject = name.map { "\($0): " } ?? ""
        let limit = Self.quietSeconds + Self.signSeconds
        do throws(ControlFailure) { socket = try ControlSocket.connect(state: state, seconds: Int(limit)) } catch {
            guard error.code == .timedOut else { throw error }
            throw ControlFailure(.timedOut, "\(subject)its daemon does not answer")
        }
    }

    /// A connection, or nil if no daemon is running.
    package static func ifRunning(state: FilePath, name: DomainName? = nil) throws(ControlFailure) -> ControlClient? {
        do { return try ControlClient(state: state, name: name) } catch {
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
    /// `timeout` is in seconds for the whole request; afterwards `timedOut` is thrown, as for a daemon that hangs, and the
    /// connection must not be used again: closing it cancels the request.
    package func request(
        _ request: ControlRequest, timeout: Double? = nil, onEvent: (ControlEvent) throws -> Void = { _ in }
    ) throws -> ControlAnswer {
        let id = try start(request)
        let deadline = timeout.map(Deadline.init(seconds:))
        inputLimitSeconds = Self.quietSeconds
        while true {
            let line = try nextLine(deadline)
            let reply: ReplyLine
            do { reply = try ControlCodec.decode(ReplyLine.self, from: line) } catch {
                throw ControlFailure(.wrongProtocol, "the daemon's answer is invalid")
            }
            // 0: the daemon could not read what was sent. All others are signs of life.
            guard reply.id == id || reply.id == 0 else { continue }
            if let failure = reply.failure { throw failure }
            if let event = reply.event { try onEvent(event) }
            if let answer = reply.answer { return answer }
        }
    }

    /// Sends a request and returns its number.
    private func start(_ request: ControlRequest) throws(ControlFailure) -> Int {
        requests += 1
        let line: [UInt8]
        do { line = try ControlCodec.encode(RequestLine(id: requests, request: request)) } catch {
            throw ControlFailure(.failed, "\(error)")
        }
        try send(line)
        return requests
    }

    private var silence: ControlFailure {
        let process = daemonProcess.map { " (process \($0))" } ?? ""
        return ControlFailure(.timedOut, "\(subject)its daemon\(process) does not answer")
    }

    private func send(_ line: [UInt8]) throws(ControlFailure) {
        var rest = line[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(socket.rawValue, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0 {
                if errno == EINTR { continue }
                if errno == EAGAIN { throw silence }
                throw Self.lost(Errno(rawValue: errno))
            }
            rest.removeFirst(count)
        }
    }

    private func nextLine(_ deadline: Deadline?) throws(ControlFailure) -> [UInt8] {
        while true {
            if let line = try received.next() { return line }
            try waitForInput(deadline)
            var buffer = [UInt8](repeating: 0, count: 65536)
            let count = recv(socket.rawValue, &buffer, buffer.count, 0)
            if count == 0 { throw Self.lost(nil) }
            if count < 0 {
                if errno == EINTR { continue }
                throw Self.lost(Errno(rawValue: errno))
            }
            received.append(buffer.prefix(count))
        }
    }

    private static func lost(_ reason: Errno?) -> ControlFailure {
        ControlFailure(.notRunning, "the connection to the daemon was lost\(reason.map { ": \($0)" } ?? "")")
    }

    /// Returns when the daemon has sent something.
    /// - Throws: `timedOut` after the deadline, or if the daemon hangs.
    private func waitForInput(_ deadline: Deadline?) throws(ControlFailure) {
        if try hasInput(within: inputLimitSeconds, deadline) { return }
        _ = try start(.hello)
        inputLimitSeconds = Self.pauseSeconds
        guard try hasInput(within: Self.signSeconds, deadline) else { throw silence }
    }

    private func hasInput(within seconds: Double, _ deadline: Deadline?) throws(ControlFailure) -> Bool {
        let end = ContinuousClock.now + .seconds(seconds)
        while true {
            let left = (min(end, deadline?.end ?? end) - .now) / .milliseconds(1)
            if left <= 0 {
                if let deadline, deadline.end <= end { throw deadline.failure }
                return false
            }
            var descriptor = pollfd(fd: socket.rawValue, events: Int16(POLLIN), revents: 0)
            if poll(&descriptor, 1, Int32(left.rounded(.up))) > 0 { return true }
        }
    }
}

/// When a request must be answered.
private struct Deadline {
    let end: ContinuousClock.Instant
    private let seconds: Double

    init(seconds: Double) {
        end = .now + .seconds(seconds)
        self.seconds = seconds
    }

    /// `timed out after 90 s`, `timed out after 0.5 s`.
    var failure: ControlFailure {
        let isWhole = seconds == seconds.rounded() && abs(seconds) < 1e15
        return ControlFailure(.timedOut, "timed out after \(isWhole ? "\(Int64(seconds))" : "\(seconds)") s")
    }
}
