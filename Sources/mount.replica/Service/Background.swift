import CLinux
import Glibc
import ReplicaControl
import SystemPackage

/// How a daemon tells the program that started it that it is ready, or why it isn't.
///
/// The parent waits, passes on what it is told and exits, so `mount` and `replica import` return when the mount or
/// the socket is live. There is nothing to pass on in the foreground.
struct Background {
    /// Who reads the parent's words.
    enum Caller {
        /// mount(8) or a person: one line on standard error, and mount(8)'s exit status.
        case mount
        /// `replica`: the reply's line on standard output, and its exit status.
        case command
    }

    private let report: Int32
    private let caller: Caller
    private let isForeground: Bool

    /// Stays in this process: for `-o foreground`.
    static func stay(caller: Caller) -> Background {
        Background(report: -1, caller: caller, isForeground: true)
    }

    /// Goes on in a child in a session of its own; the parent never returns from this.
    /// To be called before the process's first task, queue or thread: none of them is in the child.
    static func detach(caller: Caller) throws(Errno) -> Background {
        var ends: [Int32] = [0, 0]
        guard cl_pipe2(&ends, O_CLOEXEC) == 0 else { throw Errno(rawValue: errno) }
        let child = cl_fork()
        guard child >= 0 else { throw Errno(rawValue: errno) }
        if child > 0 {
            close(ends[1])
            relay(from: ends[0], caller: caller)
        }
        close(ends[0])
        setsid()
        chdir("/")
        return Background(report: ends[1], caller: caller, isForeground: false)
    }

    /// Ready: lets the parent exit. From here on standard output and error go to `log`, or nowhere.
    func isReady(_ answer: ControlAnswer, log: FilePath?) {
        tell(ReplyLine(id: 0, answer: answer))
        guard !isForeground else { return }
        let target = log.map { open($0.string, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600) } ?? -1
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        dup2(null, 0)
        for descriptor: Int32 in 1...2 { dup2(target >= 0 ? target : null, descriptor) }
        close(null)
        if target >= 0 { close(target) }
    }

    /// Failed: says so and ends this process.
    func failed(_ failure: ControlFailure) -> Never {
        tell(ReplyLine(id: 0, failure: failure))
        exit(Self.status(failure, caller))
    }

    private func tell(_ reply: ReplyLine) {
        let line = ControlLoop.encode(reply)
        if isForeground {
            Self.pass(on: reply, line: line, caller: caller)
        } else {
            _ = line.withUnsafeBytes { write(report, $0.baseAddress, $0.count) }
            close(report)
        }
    }

    /// The parent's part: waits for the child's line.
    private static func relay(from pipe: Int32, caller: Caller) -> Never {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(pipe, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { break }
            bytes += buffer.prefix(count)
        }
        let reply: ReplyLine
        do {
            reply = try ControlLine.decode(ReplyLine.self, from: bytes)
        } catch {
            reply = ReplyLine(id: 0, failure: ControlFailure(.notRunning, "the daemon ended before it was ready"))
        }
        pass(on: reply, line: ControlLoop.encode(reply), caller: caller)
        exit(reply.failure.map { status($0, caller) } ?? 0)
    }

    private static func pass(on reply: ReplyLine, line: [UInt8], caller: Caller) {
        switch caller {
        case .command: _ = line.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
        case .mount: if let failure = reply.failure { StandardError.say(failure.message) }
        }
    }

    private static func status(_ failure: ControlFailure, _ caller: Caller) -> Int32 {
        switch caller {
        case .command: failure.code.rawValue
        case .mount: ([.usage, .denied].contains(failure.code) ? MountExitStatus.usage : .failure).rawValue
        }
    }
}

/// Lines for a person.
enum StandardError {
    /// Writes `mount.replica: MESSAGE`.
    static func say(_ message: String) {
        let line = Array("mount.replica: \(message)\n".utf8)
        _ = line.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
    }
}
