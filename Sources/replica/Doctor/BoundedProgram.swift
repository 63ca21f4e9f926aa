import Glibc
import SystemPackage

/// Runs system programs for checks that may hang: of mounts of dead or stopped daemons, and of network disks.
enum BoundedProgram {
    /// What a program printed, on standard output and error, and its exit status.
    struct Result {
        var output: String
        var status: Int32
    }

    /// Runs the program at a path with a time limit. After the limit it is killed, and abandoned if it does not end.
    /// - Parameter environment: The program's whole environment, to which the C locale is added.
    /// - Returns: Nil if it did not end in time, or can't be run.
    static func run(
        _ program: String, _ words: [[UInt8]], seconds: Double, environment: [String: String] = [:]
    ) -> Result? {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        defer { close(ends[0]) }
        let child = start(program, words, environment, output: ends[1], reader: ends[0])
        close(ends[1])
        guard let child else { return nil }
        let deadline = ContinuousClock.now + .seconds(seconds)
        guard let output = read(ends[0], until: deadline), let status = wait(child, until: deadline) else {
            kill(child, SIGKILL)
            _ = wait(child, until: .now + .milliseconds(100))
            return nil
        }
        return Result(output: output, status: status)
    }

    private static func start(
        _ program: String, _ words: [[UInt8]], _ environment: [String: String], output: Int32, reader: Int32
    ) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_adddup2(&actions, output, 2)
        for end in [output, reader] { posix_spawn_file_actions_addclose(&actions, end) }
        var arguments: [UnsafeMutablePointer<CChar>?] = ([Array(program.utf8)] + words).map { word in
            strdup(word.map { CChar(bitPattern: $0) } + [0])
        }
        var variables: [UnsafeMutablePointer<CChar>?] = [strdup("LC_ALL=C")]
        variables += environment.map { strdup("\($0)=\($1)") }
        arguments.append(nil)
        variables.append(nil)
        defer { for word in arguments + variables { free(word) } }
        var child: pid_t = 0
        return posix_spawn(&child, program, &actions, nil, arguments, variables) == 0 ? child : nil
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

    /// The exit status; minus the signal.
    private static func wait(_ child: pid_t, until deadline: ContinuousClock.Instant) -> Int32? {
        var status: Int32 = 0
        while waitpid(child, &status, WNOHANG) != child {
            if ContinuousClock.now > deadline { return nil }
            usleep(2000)
        }
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
    }
}
