import CLinux
import ChildProcess
import Glibc

/// Runs system programs that may hang: checks of mounts of dead or stopped daemons and of network disks, and calls of a session's services.
package enum TimeLimitedProgram {
    /// How a program ended.
    package struct Result {
        /// Its standard output, and its standard error unless that is separate.
        package var output: String
        /// Its standard error, if it was given an input.
        package var errors = ""
        package var status: Int32
    }

    /// Its descriptors 0, 1 and 2, and our ends of them.
    private struct Ends {
        var ours: [Int32] = []
        var its: [Int32] = []

        func close(_ ends: [Int32]) { for end in ends { Glibc.close(end) } }
    }

    /// Runs the program at a path with a time limit. After the limit it is killed, and abandoned if it does not end.
    /// - Parameters:
    ///   - environment: The program's whole environment, to which the C locale is added.
    ///   - input: Its standard input, at most as much as a socket buffers. Its standard error is then separate.
    /// - Returns: Nil if it did not end in time, or can't be run.
    package static func run(
        _ program: String, _ words: [[UInt8]], seconds: Double, environment: [String: String] = [:],
        input: [UInt8]? = nil
    ) -> Result? {
        guard let ends = ends(isApart: input != nil) else { return nil }
        defer { ends.close(ends.ours) }
        let child = start(program, words, environment, ends)
        ends.close(Array(Set(ends.its)))
        guard let child else { return nil }
        let deadline = ContinuousClock.now + .seconds(seconds)
        if let input {
            // It may have ended already.
            _ = input.withUnsafeBytes { send(ends.ours[1], $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            shutdown(ends.ours[1], Int32(SHUT_WR))
        }
        guard let output = read(ends.ours[0], until: deadline),
            let errors = input == nil ? "" : read(ends.ours[2], until: deadline),
            let status = wait(child, until: deadline)
        else {
            kill(child, SIGKILL)
            _ = wait(child, until: .now + .milliseconds(100))
            return nil
        }
        return Result(output: output, errors: errors, status: status)
    }

    /// Our ends are that of its output, and if it gets an input, those of its input and its errors.
    private static func ends(isApart: Bool) -> Ends? {
        var (output, input, errors): ([Int32], [Int32], [Int32]) = ([-1, -1], [-1, -1], [-1, -1])
        guard cl_pipe2(&output, O_CLOEXEC) == 0 else { return nil }
        guard isApart else {
            return Ends(ours: [output[0]], its: [-1, output[1], output[1]])
        }
        var ends = Ends(ours: [output[0]], its: [output[1]])
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let isThere = socketpair(AF_UNIX, kind, 0, &input) == 0
        if isThere { ends = Ends(ours: ends.ours + [input[0]], its: ends.its + [input[1]]) }
        guard isThere, cl_pipe2(&errors, O_CLOEXEC) == 0 else {
            ends.close(ends.ours + ends.its)
            return nil
        }
        return Ends(ours: ends.ours + [errors[0]], its: [input[1], output[1], errors[1]])
    }

    private static func start(
        _ program: String, _ words: [[UInt8]], _ environment: [String: String], _ ends: Ends
    ) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if ends.its[0] < 0 {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        } else {
            posix_spawn_file_actions_adddup2(&actions, ends.its[0], 0)
        }
        posix_spawn_file_actions_adddup2(&actions, ends.its[1], 1)
        posix_spawn_file_actions_adddup2(&actions, ends.its[2], 2)
        cl_spawn_closefrom(&actions, 3)
        var arguments: [UnsafeMutablePointer<CChar>?] = ([Array(program.utf8)] + words).map { word in
            strdup(word.map { CChar(bitPattern: $0) } + [0])
        }
        var variables: [UnsafeMutablePointer<CChar>?] = [strdup("LC_ALL=C")]
        variables += environment.map { strdup("\($0)=\($1)") }
        arguments.append(nil)
        variables.append(nil)
        defer { for word in arguments + variables { free(word) } }
        var child: pid_t = 0
        // A program that can't be started has no answer, whatever the reason.
        let error = try? ProgramUmask.apply { posix_spawn(&child, program, &actions, nil, arguments, variables) }
        return error == 0 ? child : nil
    }

    private static func read(_ pipe: Int32, until deadline: ContinuousClock.Instant) -> String? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let left = (deadline - .now) / .milliseconds(1)
            var descriptor = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
            guard left > 0, poll(&descriptor, 1, Int32(left.rounded(.up))) > 0 else { return nil }
            let count = Glibc.read(pipe, &buffer, buffer.count)
            if count <= 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer.prefix(count)
        }
    }

    /// The exit status, or the negative number of the signal.
    private static func wait(_ child: pid_t, until deadline: ContinuousClock.Instant) -> Int32? {
        var status: Int32 = 0
        while waitpid(child, &status, WNOHANG) != child {
            if ContinuousClock.now > deadline { return nil }
            usleep(2000)
        }
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
    }
}
