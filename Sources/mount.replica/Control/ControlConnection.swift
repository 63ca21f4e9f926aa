import Glibc
import ReplicaControl
import SystemPackage

/// A client: its input so far, its unread output, and its requests in progress. Used only by the server's thread.
final class ControlConnection {
    let socket: FileDescriptor
    /// Requests in progress by their IDs.
    var tasks: [Int: Task<Void, Never>] = [:]
    /// Set when nothing can be written or read any more.
    var isBroken = false

    private var input = ControlLineBuffer()
    private var output: [UInt8] = []
    /// Senders of events, waiting until the client has read some.
    private var waiting: [CheckedContinuation<Bool, Never>] = []
    /// The client sends no more.
    private var isReadClosed = false

    private static let mostRequests = 16
    private static let mostOutput = 256 << 10

    init(socket: FileDescriptor) {
        self.socket = socket
    }

    /// No request in progress and nothing left to write.
    var isQuiet: Bool { tasks.isEmpty && output.isEmpty }
    /// Quiet, and no more requests can come.
    var isDone: Bool { isQuiet && isReadClosed }

    /// What to poll for.
    func interest(takesRequests: Bool) -> pollfd {
        var events: Int32 = 0
        if takesRequests, !isReadClosed, tasks.count < Self.mostRequests { events |= POLLIN }
        if !output.isEmpty { events |= POLLOUT }
        return pollfd(fd: socket.rawValue, events: Int16(events), revents: 0)
    }

    /// Whether the client is gone. One that only ended its own side still reads its answers.
    var isAbandoned: Bool {
        var descriptor = pollfd(fd: socket.rawValue, events: 0, revents: 0)
        return poll(&descriptor, 1, 0) > 0 && descriptor.revents & Int16(POLLHUP) != 0
    }

    /// Reads the complete lines that are available.
    func readLines() -> [[UInt8]] {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = recv(socket.rawValue, &buffer, buffer.count, 0)
        if count == 0 { isReadClosed = true }
        if count < 0 {
            if errno != EAGAIN && errno != EINTR { isBroken = true }
            return []
        }
        input.append(buffer.prefix(count))
        var lines: [[UInt8]] = []
        do {
            while let line = try input.next() {
                if !line.isEmpty { lines.append(line) }
            }
        } catch {
            refuse(error)
        }
        return lines
    }

    /// Appends to the client's output; `taken` resumes as soon as the client is not far behind.
    func queue(_ line: [UInt8], taken: CheckedContinuation<Bool, Never>?) {
        output += line
        if let taken { waiting.append(taken) }
        write()
    }

    /// Sends the reason, and accepts no more requests on this connection.
    func refuse(_ failure: ControlFailure) {
        isReadClosed = true
        queue(ControlLoop.encode(ReplyLine(id: 0, failure: failure)), taken: nil)
    }

    /// The request was answered.
    func finish(_ request: Int) {
        tasks[request] = nil
    }

    /// Writes as much as the client accepts now.
    func write() {
        while !output.isEmpty, !isBroken {
            let flags = Int32(MSG_NOSIGNAL)
            let count = output.withUnsafeBytes { send(socket.rawValue, $0.baseAddress, $0.count, flags) }
            if count < 0 {
                if errno == EINTR { continue }
                if errno != EAGAIN { isBroken = true }
                break
            }
            output.removeFirst(count)
        }
        if output.count <= Self.mostOutput { release(true) }
    }

    /// Cancels the requests in progress.
    func close() {
        for task in tasks.values { task.cancel() }
        release(false)
        _ = Glibc.close(socket.rawValue)
    }

    private func release(_ isTaken: Bool) {
        let senders = waiting
        waiting = []
        for sender in senders { sender.resume(returning: isTaken) }
    }
}
