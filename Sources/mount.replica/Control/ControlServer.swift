import CLinux
import Glibc
import ReplicaControl
import ReplicaModel
import SystemPackage
import Threads

/// Serves a domain's control socket. One thread does all input and output; requests
/// run as tasks, so a slow client does not block others.
///
/// Only the process that serves the domain creates one: ``Domain/open(_:store:options:log:)`` admits one process.
final class ControlServer: Sendable {
    private let inbox: ControlInbox
    private let state: FilePath
    private let thread: Thread

    /// Listens in the state directory and starts to serve.
    init(state: FilePath, service: any ControlRequestHandler) throws(Errno) {
        self.state = state
        inbox = try ControlInbox()
        let listener = try ControlSocket.listen(state: state)
        let loop = ControlLoop(listener: listener, inbox: inbox, service: service)
        guard let thread = Thread(name: "control", { loop.run() }) else { throw .resourceTemporarilyUnavailable }
        self.thread = thread
    }

    /// Accepts no new requests, waits until those in progress are answered (30 s at most; then they are
    /// cancelled), and removes the socket. Blocks: must not be called from a task. Call it once.
    func stop() {
        inbox.post(.stop)
        thread.join()
        unlink(state.appending(ControlSocket.name).string)
    }
}

/// Messages from tasks to the server's thread, with a pipe that wakes it.
// The pipe's ends never change and the messages are behind a lock.
final class ControlInbox: Sendable {
    enum Message: Sendable {
        /// A reply for connection `to`; `isLast` ends the request. `taken` resumes when the client can accept more.
        case reply(to: Int, request: Int, line: [UInt8], isLast: Bool, taken: CheckedContinuation<Bool, Never>?)
        case stop
    }

    private let messages = Locked<[Message]>([])
    private let reader: Int32
    private let writer: Int32

    /// Readable when there are messages.
    var descriptor: Int32 { reader }

    init() throws(Errno) {
        var ends: [Int32] = [0, 0]
        guard cl_pipe2(&ends, O_CLOEXEC | O_NONBLOCK) == 0 else { throw Errno(rawValue: errno) }
        (reader, writer) = (ends[0], ends[1])
    }

    deinit {
        close(reader)
        close(writer)
    }

    func post(_ message: Message) {
        let wasEmpty = messages.withLock { all in
            all.append(message)
            return all.count == 1
        }
        // A full pipe is fine: the thread will wake anyway.
        if wasEmpty { _ = withUnsafeBytes(of: UInt8(1)) { write(writer, $0.baseAddress, 1) } }
    }

    func take() -> [Message] {
        var buffer = [UInt8](repeating: 0, count: 64)
        while read(reader, &buffer, buffer.count) > 0 {}
        return messages.withLock { all in
            defer { all = [] }
            return all
        }
    }
}
