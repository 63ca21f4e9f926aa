import CLinux
import Glibc
import ReplicaControl
import SystemPackage

/// Starts a daemon, and reports to the starting process that it is ready, or why not.
///
/// The starter waits, relays the report and exits, so that `mount` and `replica import` return when the mount or
/// the socket is live. In the foreground there is nothing to relay.
///
/// The daemon is this program, executed again with the same arguments and environment in the same directory: a copy made by
/// fork(2) of a process with threads could inherit locks of the Swift runtime that are never released.
struct BackgroundStart {
    /// The audience of the starter's output.
    enum Caller {
        /// mount(8) or the user: one line on standard error, and mount(8)'s exit status.
        case mount
        /// `replica`: the reply's line on standard output, and its exit status.
        case command
    }

    /// The first argument of a daemon that was started here; it reports to ``reportDescriptor``.
    static let mark = Array("--started".utf8)
    private static let reportDescriptor: Int32 = 3

    private let report: Int32
    private let caller: Caller
    private let isForeground: Bool

    /// Stays in this process: for `-o foreground`.
    static func stay(caller: Caller) -> BackgroundStart {
        BackgroundStart(report: -1, caller: caller, isForeground: true)
    }

    /// Runs this program as the daemon and waits for its report; returns only if that fails.
    /// - Parameter arguments: The daemon's arguments, without the program's name.
    static func start(arguments: [[UInt8]], caller: Caller) throws(Errno) {
        var ends: [Int32] = [0, 0]
        guard cl_pipe2(&ends, O_CLOEXEC) == 0 else { throw Errno(rawValue: errno) }
        let error = spawn([Array("mount.replica".utf8), mark] + arguments, report: ends[1])
        close(ends[1])
        if error == 0 { relay(from: ends[0], caller: caller) }
        close(ends[0])
        throw Errno(rawValue: error)
    }

    /// 0 or an errno. The daemon inherits standard error until it is ready, the pipe, the environment and the working
    /// directory; nothing else.
    private static func spawn(_ arguments: [[UInt8]], report: Int32) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, report, reportDescriptor)
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0)
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_RDWR, 0)
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { word in
            strdup(word.map { CChar(bitPattern: $0) } + [0])
        }
        words.append(nil)
        defer { for word in words { free(word) } }
        var child: pid_t = 0
        return posix_spawn(&child, SystemPath.ownProgram, &actions, nil, words, environ)
    }

    /// Whether a mount unit of systemd may run this process. systemd keeps a mount's helper in its own process group,
    /// which alone may pass an automount that is not mounted yet (autofs_d_manage in the kernel): all other processes
    /// wait until the helper ends.
    static var isOfMountUnit: Bool { getpid() != 1 && getpgrp() == getpgid(1) }

    /// Called first in the daemon: detaches from the caller's descriptors and signals, and from its session, from a mount unit's
    /// group only when it is ready.
    /// - Throws: EBADF if it was not started by ``start(arguments:caller:)``.
    static func take(caller: Caller) throws(Errno) -> BackgroundStart {
        var status = stat()
        guard fstat(reportDescriptor, &status) == 0, status.st_mode & S_IFMT == S_IFIFO else {
            throw .badFileDescriptor
        }
        _ = fcntl(reportDescriptor, F_SETFD, FD_CLOEXEC)
        _ = cl_close_range(UInt32(reportDescriptor) + 1, .max, 0)
        if !isOfMountUnit { setsid() }
        // When run through /proc its name would be "exe".
        _ = cl_name_thread(UInt(pthread_self()), "mount.replica")
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        for number in [SIGTERM, SIGINT, SIGHUP, SIGCHLD] { signal(number, SIG_DFL) }
        // The starter may have ended already.
        signal(SIGPIPE, SIG_IGN)
        return BackgroundStart(report: reportDescriptor, caller: caller, isForeground: false)
    }

    /// Opens standard input, output and error if they are closed; otherwise files opened later could get these numbers and be
    /// written to by mistake.
    static func occupyStandardDescriptors() {
        var descriptor: Int32 = 0
        while (0...2).contains(descriptor) { descriptor = open("/dev/null", O_RDWR) }
        if descriptor > 2 { close(descriptor) }
    }

    /// Reports that the daemon is ready, so that the starter exits. From here on standard output and error go to `log`, or nowhere;
    /// in the foreground, where they stay, the lines of standard error go there too.
    func isReady(_ answer: ControlAnswer, log: FilePath?) {
        tell(ReplyLine(id: 0, answer: answer))
        guard !isForeground else {
            if let log { StandardError.copy(to: log) }
            return
        }
        setsid()
        let target = log.map(DaemonLog.open) ?? -1
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        dup2(null, 0)
        for descriptor: Int32 in 1...2 { dup2(target >= 0 ? target : null, descriptor) }
        close(null)
        if target >= 0 { close(target) }
        if let log { StandardError.become(DaemonLog(log, [2, 1])) }
    }

    /// Reports a failure and exits.
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

    /// Called in the starter: waits for the daemon's report.
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
            reply = try ControlCodec.decode(ReplyLine.self, from: bytes)
        } catch {
            reply = ReplyLine(id: 0, failure: ControlFailure(.notRunning, "the daemon exited before it was ready"))
        }
        pass(on: reply, line: ControlLoop.encode(reply), caller: caller)
        exit(reply.failure.map { status($0, caller) } ?? 0)
    }

    private static func pass(on reply: ReplyLine, line: [UInt8], caller: Caller) {
        switch caller {
        case .command:
            _ = line.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
            if let failure = reply.failure { StandardError.note(failure.message) }
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
