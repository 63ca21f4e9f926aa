import ChildProcess
import Glibc
import SystemPackage
import Threads

/// The thread of a connection: starts ssh, reads and writes packets, enforces the time limits, and ends it. Large: the
/// state of one connection, only accessed by its thread.
struct SSHProcess {
    /// How long to wait for the exit status of an ssh whose output has ended.
    private static let momentOfDeath = Duration.seconds(1)
    /// The maximum number of reads of output that is left after ssh has ended.
    private static let lastReads = 64

    private let connection: SFTPConnection
    private let limits: ConnectionLimits
    private let begin = ContinuousClock.now
    private var ending: ProcessTermination
    private var packets = PacketBuffer()
    private var complaint = SSHErrorMessages()
    private var hasGreeted = false
    private var now = ContinuousClock.now
    /// When the last answer came, or no answer was pending.
    private var heard = ContinuousClock.now
    private var hungUp: ContinuousClock.Instant?
    /// When the oldest unanswered request was sent; nil if there is none.
    private var waitingSince: ContinuousClock.Instant?
    private var (isTalking, isComplaining) = (true, true)
    /// The bytes being written, from `written` on.
    private var (chunk, written): ([UInt8], Int) = ([], 0)

    init(_ connection: SFTPConnection) {
        self.connection = connection
        limits = connection.limits
        ending = ProcessTermination(farewell: limits.farewell, termination: limits.farewell)
    }

    /// Blocks until all processes of ssh have ended.
    /// - Returns: Why it ended.
    mutating func run(_ call: ProgramCall) -> SFTPFailure {
        let child: SpawnedProcess
        do throws(Errno) { child = try SpawnedProcess(call) } catch {
            return .refused("\(call.path) can't be started: \(error)")
        }
        connection.state.withLock { $0.process = child.identifier }
        serve(child)
        // The leader has ended but was not reaped, so its number still identifies this group.
        kill(-child.identifier, SIGKILL)
        for _ in 0..<Self.lastReads where isTalking { if !read(child) { break } }
        for _ in 0..<Self.lastReads where isComplaining { if !readErrors(child) { break } }
        return complaint.failure(connection.address, status: child.reap())
    }

    private mutating func serve(_ child: SpawnedProcess) {
        while true {
            let hasOutput = isTalking && (written < chunk.count || connection.state.withLock { !$0.outgoing.isEmpty })
            var files = [
                pollfd(fd: child.handle.raw, events: Int16(POLLIN), revents: 0),
                pollfd(fd: connection.wakeUp.raw, events: Int16(POLLIN), revents: 0),
                pollfd(
                    fd: isTalking ? child.conversation.raw : -1, events: Int16(POLLIN | (hasOutput ? POLLOUT : 0)),
                    revents: 0),
                pollfd(fd: isComplaining ? child.errors.raw : -1, events: Int16(POLLIN), revents: 0),
            ]
            poll(&files, 4, Int32(max(.zero, min(deadline - .now, .seconds(3_600))) / .milliseconds(1)) + 1)
            now = .now
            if files[0].revents != 0 { return }
            if files[1].revents != 0 {
                var count: UInt64 = 0
                Glibc.read(connection.wakeUp.raw, &count, 8)
            }
            if files[2].revents & Int16(POLLOUT) != 0 { write(child) }
            if files[2].revents & ~Int16(POLLOUT) != 0 { read(child) }
            if files[3].revents != 0 { readErrors(child) }
            watch(child)
        }
    }

    // MARK: Reading and writing

    /// - Returns: Whether there may be more to read immediately.
    @discardableResult
    private mutating func read(_ child: SpawnedProcess) -> Bool {
        let count = withUnsafeTemporaryAllocation(byteCount: 1 << 18, alignment: 16) { buffer in
            let count = Glibc.read(child.conversation.raw, buffer.baseAddress, buffer.count)
            if count > 0, !ending.hasBegun { take(UnsafeRawBufferPointer(rebasing: buffer[..<count])) }
            return count
        }
        if count == 0 || count < 0 && errno != EAGAIN && errno != EINTR {
            isTalking = false
            hungUp = hungUp ?? now
        }
        return count > 0
    }

    private mutating func take(_ bytes: UnsafeRawBufferPointer) {
        let connection = connection
        var (greeted, answered) = (hasGreeted, false)
        do throws(MalformedPacket) {
            try packets.take(bytes) { (packet) throws(MalformedPacket) in
                if greeted {
                    let (number, reply) = try SFTPReply.read(packet)
                    guard connection.take(number, reply) else {
                        throw MalformedPacket(reason: "an answer without a request")
                    }
                } else {
                    connection.hello.fulfil(.success(try SFTPHello(packet)))
                    greeted = true
                }
                answered = true
            }
        } catch {
            // If the first bytes are not a packet, they are the output of another program.
            let isText = !greeted && packets.waiting > 0
            let text = isText ? Self.otherWords(packets.beginning) : "the server breaks the protocol: \(error.reason)"
            connection.end(.unreachable("\(connection.address): \(text)"))
        }
        hasGreeted = greeted
        if answered { heard = now }
    }

    private static func otherWords(_ bytes: [UInt8]) -> String {
        "instead of an SFTP server, this answered: '\(SanitizedText.of(bytes))'; does a shell profile print text at login?"
    }

    @discardableResult
    private mutating func readErrors(_ child: SpawnedProcess) -> Bool {
        let count = withUnsafeTemporaryAllocation(byteCount: 1 << 14, alignment: 16) { buffer in
            let count = Glibc.read(child.errors.raw, buffer.baseAddress, buffer.count)
            if count > 0 { complaint.take(UnsafeRawBufferPointer(rebasing: buffer[..<count])) }
            return count
        }
        if count == 0 || count < 0 && errno != EAGAIN && errno != EINTR { isComplaining = false }
        return count > 0
    }

    private mutating func write(_ child: SpawnedProcess) {
        while true {
            if written == chunk.count {
                let packets = connection.state.withLock { state in
                    defer { state.outgoing = [] }
                    return state.outgoing
                }
                if packets.isEmpty { return }
                (chunk, written) = (packets.count == 1 ? packets[0] : Array(packets.joined()), 0)
            }
            let count = chunk.withUnsafeBytes {
                send(child.conversation.raw, $0.baseAddress! + written, $0.count - written, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            // A broken connection is detected by reading.
            guard count > 0 else { return }
            written += count
        }
    }

    // MARK: Clocks

    private var deadline: ContinuousClock.Instant {
        let never = ContinuousClock.now + .seconds(3_600)
        if ending.hasBegun { return ending.deadline ?? never }
        if let hungUp { return hungUp + Self.momentOfDeath }
        if !hasGreeted { return begin + limits.hello }
        // If no answer is pending, the next request wakes this thread.
        guard let waitingSince else { return never }
        return min(max(heard, waitingSince) + limits.silence, waitingSince + limits.answer)
    }

    private mutating func watch(_ child: SpawnedProcess) {
        if ending.hasBegun {
            if ending.isOverdue(now) { ending.terminate(child, now) }
            ending.killIfOverdue(child, now)
        } else {
            watchServing(child)
        }
    }

    private mutating func watchServing(_ child: SpawnedProcess) {
        let (ended, isToLeave, oldest) = connection.state.withLock { state in
            (state.ended, state.isToLeave, state.pending.values.map(\.sent).min())
        }
        waitingSince = oldest
        let address = connection.address
        if ended != nil {
            ending.terminate(child, now)
        } else if let hungUp {
            if now - hungUp >= Self.momentOfDeath { ending.terminate(child, now) }
        } else if isToLeave {
            connection.end(.unreachable("\(address): the connection is closed"))
            ending.leave(child, now)
        } else if !hasGreeted {
            if now - begin >= limits.hello { fail("no answer within \(limits.hello)", child) }
        } else if let oldest {
            if now - max(heard, oldest) >= limits.silence { fail("no answer for \(limits.silence)", child) }
            if now - oldest >= limits.answer { fail("no answer to one request for \(limits.answer)", child) }
        } else {
            heard = now
        }
    }

    private mutating func fail(_ text: String, _ child: SpawnedProcess) {
        connection.end(.unreachable("\(connection.address): \(text)"))
        ending.terminate(child, now)
    }
}
