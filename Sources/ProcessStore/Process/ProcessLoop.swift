import CLinux
import ChildProcess
import Foundation
import Glibc
import Logging
import SystemPackage
import Threads

/// The thread of a store's process: starts it, reads and writes its lines, enforces its time limits, and ends it.
/// Large: the state of one run, only accessed by its thread.
struct ProcessLoop {
    /// The maximum number of reads of output that is left after the process has ended: more than a socket holds.
    private static let lastReads = 256

    /// How long to wait for the exit status of a process whose output has ended.
    private static let momentOfDeath = Duration.milliseconds(250)

    private let process: StoreProcess
    private let noSignal = Int32(MSG_NOSIGNAL)
    private let limits: ProcessLimits
    private let log: Logger
    private let begin = ContinuousClock.now
    private var ending: ProcessTermination
    private var failure: StoreFailure?
    private var lines: LineBuffer
    private var errors: StandardErrorLog
    private var conversation: Conversation
    private var now = ContinuousClock.now
    /// When its output ended: if the process has ended, its exit status is known in a moment.
    private var hungUp: ContinuousClock.Instant?
    /// Whether each of our ends may still have input.
    private var (isTalking, isComplaining) = (true, true)

    init(_ process: StoreProcess, _ log: Logger, signal: @escaping @Sendable (IncomingLine.Signal) -> Void) {
        self.process = process
        self.log = log
        limits = process.limits
        ending = ProcessTermination(farewell: limits.farewell, termination: limits.termination)
        lines = LineBuffer(limit: limits.longestLine)
        errors = StandardErrorLog(log, limits)
        conversation = Conversation(process, signal: signal)
    }

    /// Blocks until all processes of the group have ended.
    /// - Parameter folders: The program's own.
    mutating func run(_ program: StoreProgram, folders: [String], environment: [String]) -> StoreProcess.End {
        let child: SpawnedProcess
        do throws(Errno) {
            child = try SpawnedProcess(
                program.call(isLaunched: limits.isLaunched, folders: folders, environment: environment))
        } catch {
            return ended(.unreachable("\(program.path) can't be started: \(error)"))
        }
        serve(child)
        // The leader has ended but was not reaped, so its number still identifies this group.
        kill(-child.identifier, SIGKILL)
        // Output before its end still counts. Processes that left the group could write forever.
        for _ in 0..<Self.lastReads where isTalking { if !read(child.conversation, of: child) { break } }
        for _ in 0..<Self.lastReads where isComplaining { if !readErrors(child.errors) { break } }
        errors.finish(now: now)
        let status = child.reap()
        return ended(failure ?? (ending.hasBegun ? nil : .unreachable(Self.words(program, status))))
    }

    private func ended(_ failure: StoreFailure?) -> StoreProcess.End {
        StoreProcess.End(failure: failure, length: .now - begin)
    }

    private mutating func serve(_ child: SpawnedProcess) {
        while true {
            let hasOutput = isTalking && process.state.withLock { !$0.outgoing.isEmpty }
            var files = [
                pollfd(fd: child.handle.raw, events: Int16(POLLIN), revents: 0),
                pollfd(fd: process.wakeUp.raw, events: Int16(POLLIN), revents: 0),
                pollfd(
                    fd: isTalking ? child.conversation.raw : -1, events: Int16(POLLIN | (hasOutput ? POLLOUT : 0)),
                    revents: 0),
                pollfd(fd: isComplaining ? child.errors.raw : -1, events: Int16(POLLIN), revents: 0),
            ]
            let wait = max(.zero, min(deadline - .now, .seconds(3_600)))
            poll(&files, 4, Int32(wait / .milliseconds(1)) + 1)
            now = .now
            if files[0].revents != 0 { return }
            if files[1].revents != 0 {
                var count: UInt64 = 0
                Glibc.read(process.wakeUp.raw, &count, 8)
            }
            if files[2].revents & Int16(POLLOUT) != 0 { write(child.conversation, of: child) }
            if files[2].revents & ~Int16(POLLOUT) != 0 { read(child.conversation, of: child) }
            if files[3].revents != 0 { readErrors(child.errors) }
            watch(child)
        }
    }

    // MARK: Reading and writing

    /// - Returns: Whether there may be more to read immediately.
    @discardableResult
    private mutating func read(_ file: OwnedDescriptor, of child: SpawnedProcess) -> Bool {
        var fresh: [[UInt8]?] = []
        let count = withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 16) { buffer in
            let count = Glibc.read(file.raw, buffer.baseAddress, buffer.count)
            if count > 0 { fresh = lines.take(UnsafeRawBufferPointer(rebasing: buffer[..<count])) }
            return count
        }
        let error = errno
        var wrong: String?
        // Output of a process that is being ended is ignored.
        for line in fresh where !ending.hasBegun && wrong == nil {
            wrong = line.map { conversation.take($0, now: now) } ?? "a line that is too long"
        }
        if let wrong {
            isTalking = false
            fail(.unreachable("the store broke the protocol: \(wrong)"), child)
        } else if count == 0 || count < 0 && error != EAGAIN && error != EINTR {
            isTalking = false
            if !ending.hasBegun { hungUp = now }
        }
        if let refusal = conversation.refusal, failure == nil {
            failure = refusal
            leave(child)
        }
        return count > 0
    }

    @discardableResult
    private mutating func readErrors(_ file: OwnedDescriptor) -> Bool {
        let count = withUnsafeTemporaryAllocation(byteCount: 1 << 14, alignment: 16) { buffer in
            let count = Glibc.read(file.raw, buffer.baseAddress, buffer.count)
            if count > 0 { errors.take(UnsafeRawBufferPointer(rebasing: buffer[..<count]), now: now) }
            return count
        }
        if count == 0 || count < 0 && errno != EAGAIN && errno != EINTR { isComplaining = false }
        return count > 0
    }

    private mutating func write(_ file: OwnedDescriptor, of child: SpawnedProcess) {
        let bytes = process.state.withLock { state in
            defer { state.outgoing = [] }
            return state.outgoing
        }
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                send(file.raw, $0.baseAddress! + done, $0.count - done, noSignal)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            done += count
        }
        // A broken connection is detected by reading.
        let rest = bytes[done...]
        process.state.withLock { $0.outgoing.insert(contentsOf: rest, at: 0) }
    }

    // MARK: Clocks

    /// The time of the next thing to do.
    private var deadline: ContinuousClock.Instant {
        let never = ContinuousClock.now + .seconds(3_600)
        if ending.hasBegun { return ending.deadline ?? never }
        return min(
            conversation.deadline(limits, begin: begin), hungUp.map { $0 + Self.momentOfDeath } ?? never)
    }

    private mutating func watch(_ child: SpawnedProcess) {
        conversation.sendCancellations(now: now)
        if ending.hasBegun {
            if ending.isOverdue(now) { fail(.unreachable("the store does not exit"), child) }
            ending.killIfOverdue(child, now)
        } else {
            watchServing(child)
        }
    }

    private mutating func watchServing(_ child: SpawnedProcess) {
        if let hungUp, now - hungUp >= Self.momentOfDeath {
            fail(.unreachable("the store closed the connection"), child)
        }
        switch conversation.due(limits, begin: begin, now: now) {
        case .nothing: break
        case .idle: leave(child)
        case .silent(let text): fail(.unreachable(text), child)
        }
        let (isToLeave, length) = process.state.withLock { ($0.isToLeave, $0.outgoing.count) }
        if length > limits.longestQueue { fail(.unreachable("the store does not read its input"), child) }
        if isToLeave, !ending.hasBegun { leave(child) }
    }

    /// Accepts no more calls, and closes its input.
    private mutating func leave(_ child: SpawnedProcess) {
        process.close(failure ?? .unreachable("the store was stopped"), isFault: failure != nil)
        guard !ending.hasBegun else { return }
        process.state.withLock { $0.outgoing = [] }
        ending.leave(child, now)
    }

    private mutating func fail(_ failure: StoreFailure, _ child: SpawnedProcess) {
        if self.failure == nil {
            self.failure = failure
            log.warning("the store is stopped: \(failure.message)")
        }
        process.close(failure, isFault: true)
        process.state.withLock { $0.outgoing = [] }
        ending.terminate(child, now)
    }

    // MARK: The end

    private static func words(_ program: StoreProgram, _ status: Int32) -> String {
        let signal = status & 0x7F
        return "\(program.name) ended \(signal == 0 ? "with status \((status >> 8) & 0xFF)" : "by signal \(signal)")"
    }
}
