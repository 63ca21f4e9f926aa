import CLinux
import Glibc
import ReplicaControl
import SystemPackage

/// The server's thread: accepts, reads requests, starts their tasks, writes replies.
// Only the server's thread calls it after its creation.
final class ControlLoop: @unchecked Sendable {
    private let listener: FileDescriptor
    private let inbox: ControlInbox
    private let service: any ControlRequestHandler
    private let threads = RequestThreads()
    private var connections: [Int: ControlConnection] = [:]
    private var lastConnection = 0
    /// The deadline after `stop`.
    private var end: ContinuousClock.Instant?

    private static let mostConnections = 64
    private static let graceForStop = Duration.seconds(30)

    init(listener: FileDescriptor, inbox: ControlInbox, service: any ControlRequestHandler) {
        self.listener = listener
        self.inbox = inbox
        self.service = service
    }

    func run() {
        while !isFinished {
            var descriptors = [
                pollfd(fd: inbox.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: listener.rawValue, events: end == nil ? Int16(POLLIN) : 0, revents: 0),
            ]
            let polled = Array(connections)
            descriptors += polled.map { $0.value.interest(takesRequests: end == nil) }
            poll(&descriptors, nfds_t(descriptors.count), end == nil ? -1 : 100)

            for message in inbox.take() { handle(message) }
            for ((key, connection), descriptor) in zip(polled, descriptors.dropFirst(2)) {
                serve(connection, key, descriptor.revents)
            }
            if descriptors[1].revents & Int16(POLLIN) != 0 { accept() }
            sweep()
        }
        for connection in connections.values { connection.close() }
        _ = close(listener.rawValue)
        for case .reply(_, _, _, _, let taken) in inbox.take() { taken?.resume(returning: false) }
    }

    /// After `stop`: nothing is in progress and everything was written, or the deadline has passed.
    private var isFinished: Bool {
        guard let end else { return false }
        return connections.values.allSatisfy(\.isQuiet) || ContinuousClock.now > end
    }

    private func handle(_ message: ControlInbox.Message) {
        switch message {
        case .stop: end = .now + Self.graceForStop
        case .reply(let key, let request, let line, let isLast, let taken):
            guard let connection = connections[key] else {
                taken?.resume(returning: false)
                return
            }
            connection.queue(line, taken: taken)
            if isLast { connection.finish(request) }
        }
    }

    private func serve(_ connection: ControlConnection, _ key: Int, _ events: Int16) {
        if events & Int16(POLLERR | POLLNVAL) != 0 { connection.isBroken = true }
        if events & Int16(POLLIN) != 0 {
            let lines = connection.readLines()
            // The requests of a client that has disconnected meanwhile are not started: this process may have been stopped.
            if connection.isAbandoned { connection.isBroken = true }
            if !connection.isBroken { for line in lines { start(line, on: connection, key) } }
        }
        connection.write()
        if events & Int16(POLLHUP) != 0 { connection.isBroken = true }
    }

    private func sweep() {
        for (key, connection) in connections where connection.isDone || connection.isBroken {
            connection.close()
            connections[key] = nil
        }
    }

    private func accept() {
        let socket = cl_accept4(listener.rawValue, nil, nil, Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue))
        if socket < 0 {
            // Out of descriptors: the client stays in the queue. Wait a little instead of spinning.
            if errno == EMFILE || errno == ENFILE { usleep(50_000) }
            return
        }
        let connection = ControlConnection(socket: FileDescriptor(rawValue: socket))
        lastConnection += 1
        connections[lastConnection] = connection
        if connections.count > Self.mostConnections {
            connection.refuse(ControlFailure(.busy, "too many clients"))
        } else if !isAllowed(connection.socket) {
            connection.refuse(ControlFailure(.denied, "the domain belongs to another user"))
        }
    }

    private func start(_ line: [UInt8], on connection: ControlConnection, _ key: Int) {
        let message: RequestLine
        do throws(ControlFailure) { message = try ControlCodec.decodeRequest(line) } catch {
            connection.queue(Self.encode(ReplyLine(id: 0, failure: error)), taken: nil)
            return
        }
        let id = message.id
        guard connection.tasks[id] == nil else {
            connection.refuse(ControlFailure(.wrongProtocol, "request \(id) is already in progress"))
            return
        }
        let inbox = inbox
        let service = service
        let sink = EventSink { event throws(CancellationError) in
            let line = Self.encode(ReplyLine(id: id, event: event))
            let isTaken = await withCheckedContinuation { continuation in
                inbox.post(.reply(to: key, request: id, line: line, isLast: false, taken: continuation))
            }
            if !isTaken { throw CancellationError() }
        }
        connection.tasks[id] = Task(executorPreference: threads) {
            let reply: ReplyLine
            do {
                // All threads may have been busy for long.
                try Task.checkCancellation()
                reply = ReplyLine(id: id, answer: try await service.answer(message.request, events: sink))
            } catch {
                reply = ReplyLine(id: id, failure: ControlFailure(error))
            }
            inbox.post(.reply(to: key, request: id, line: Self.encode(reply), isLast: true, taken: nil))
        }
    }

    /// The line of a reply. Values that JSON cannot represent (a rate that is not a number) become a failure instead of being
    /// dropped.
    static func encode(_ reply: ReplyLine) -> [UInt8] {
        do { return try ControlCodec.encode(reply) } catch {
            return Array(
                #"{"failure":{"code":"failed","message":"the reply can't be written as JSON"},"id":\#(reply.id)}"#.utf8)
                + [UInt8(ascii: "\n")]
        }
    }
}
