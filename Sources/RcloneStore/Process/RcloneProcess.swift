import ChildProcess
import Glibc
import SystemPackage
import Threads

/// One run of rclone. The thread that starts it also waits for its end, because the kernel ends the child together with
/// that thread.
final class RcloneProcess: Sendable {
    /// The result of the run.
    struct End: Hashable, Sendable {
        /// The status of waitpid(2); nil if it could not be started.
        var status: Int32?
        /// The end of its standard output.
        var output = ""
        /// The end of its standard error, or why it could not be started.
        var words = ""
    }

    private struct State {
        var process: pid_t = 0
        var isToEnd = false
        var end: End?
    }

    private let state = Locked(State())
    /// The number of bytes of its output that are kept.
    private static let most = 8 << 10

    /// Starts it.
    init(_ call: ProgramCall) {
        let isStarted = Thread.run { self.run(call) }
        if !isStarted { state.withLock { $0.end = End(words: "no thread could be created") } }
    }

    /// The result; nil while it is running.
    var end: End? { state.withLock { $0.end } }

    /// Its process ID; 0 if it has none.
    var process: pid_t { state.withLock { $0.process } }

    /// Sends it a signal. If it is only about to start, it is killed as soon as it has started.
    func stop(_ signal: Int32) {
        state.withLock { state in
            state.isToEnd = true
            // It was not reaped yet, so its number still identifies this group.
            if state.process > 0 { kill(-state.process, signal) }
        }
    }

    private func run(_ call: ProgramCall) {
        let child: SpawnedProcess
        do throws(Errno) { child = try SpawnedProcess(call) } catch {
            return state.withLock { $0.end = End(words: "\(call.path) can't be started: \(error)") }
        }
        state.withLock { state in
            state.process = child.identifier
            if state.isToEnd { kill(-child.identifier, SIGKILL) }
        }
        var (output, errors): ([UInt8], [UInt8]) = ([], [])
        var (isTalking, isComplaining) = (true, true)
        while true {
            var files = [
                pollfd(fd: child.handle.raw, events: Int16(POLLIN), revents: 0),
                pollfd(fd: isTalking ? child.conversation.raw : -1, events: Int16(POLLIN), revents: 0),
                pollfd(fd: isComplaining ? child.errors.raw : -1, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&files, 3, -1) >= 0 || errno == EINTR else { break }
            if files[1].revents != 0 { isTalking = Self.read(child.conversation.raw, &output) }
            if files[2].revents != 0 { isComplaining = Self.read(child.errors.raw, &errors) }
            if files[0].revents != 0 { break }
        }
        // Its remaining output is in the pipe.
        while isTalking, Self.hasMore(child.conversation.raw) { isTalking = Self.read(child.conversation.raw, &output) }
        while isComplaining, Self.hasMore(child.errors.raw) { isComplaining = Self.read(child.errors.raw, &errors) }
        state.withLock { state in
            kill(-child.identifier, SIGKILL)
            state.process = 0
            state.end = End(
                status: child.reap(), output: SanitizedText.of(output),
                words: String(decoding: errors, as: UTF8.self))
        }
    }

    private static func hasMore(_ file: Int32) -> Bool {
        var files = [pollfd(fd: file, events: Int16(POLLIN), revents: 0)]
        return poll(&files, 1, 0) > 0
    }

    /// - Returns: Whether there may be more to read.
    private static func read(_ file: Int32, _ kept: inout [UInt8]) -> Bool {
        let bytes = [UInt8](unsafeUninitializedCapacity: 4_096) { buffer, count in
            count = max(0, Glibc.read(file, buffer.baseAddress, buffer.count))
        }
        kept += bytes
        if kept.count > 2 * most { kept.removeFirst(kept.count - most) }
        return !bytes.isEmpty || errno == EAGAIN || errno == EINTR
    }
}

extension RcloneProcess.End {
    /// The last line of its messages, for the user.
    var lastLine: String {
        let lines = words.split(whereSeparator: \.isNewline)
        // Each line begins with the time and the level.
        var line = lines.last { !$0.hasPrefix("\t") && !$0.hasPrefix(" ") } ?? ""
        if let said = lines.last(where: { $0.contains("CRITICAL") || $0.contains("Failed to ") }) { line = said }
        for mark in ["CRITICAL: ", "ERROR : ", "NOTICE: "] {
            if let range = line.firstRange(of: mark) { line = line[range.upperBound...] }
        }
        return SanitizedText.of(RcloneError.Complaint.withoutQueries(String(line)), longest: 300)
    }
}
