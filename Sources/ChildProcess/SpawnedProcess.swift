internal import CLinux
package import Glibc
package import SystemPackage

/// The program of a new process.
package struct ProgramCall: Sendable {
    /// The program's path; a name without `/` is searched in this process's PATH.
    package var path: String
    /// Its arguments, starting with its name.
    package var words: [String]
    /// Its environment, as `NAME=VALUE`.
    package var environment: [String]
    /// An open file that becomes its descriptor 3; nil for none.
    package var file: OwnedDescriptor?

    package init(path: String, words: [String], environment: [String], file: OwnedDescriptor? = nil) {
        self.path = path
        self.words = words
        self.environment = environment
        self.file = file
    }
}

/// The folders of programs that only root can change.
package enum SystemFolders {
    /// In the form of PATH.
    package static let path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
}

/// A process that was just started, with our ends of its connections.
package struct SpawnedProcess: Sendable {
    package let identifier: pid_t
    /// Readable when the process has ended.
    package let handle: OwnedDescriptor
    /// Its descriptors 0 and 1.
    package let conversation: OwnedDescriptor
    /// Its standard error.
    package let errors: OwnedDescriptor

    /// Starts a program in its own process group, in `/`, with the umask of ``ProgramUmask``, with no descriptors except 0, 1, 2 and the given one.
    /// - Throws: An errno.
    package init(_ call: ProgramCall) throws(Errno) {
        let (ours, its) = try Self.sockets()
        let (reading, writing) = try Self.pipe()
        let child = try Self.spawn(call, conversation: its.raw, errors: writing.raw)
        identifier = child
        conversation = ours
        errors = reading
        do throws(Errno) {
            handle = try OwnedDescriptor(checking: Int32(cl_pidfd_open(Int(CL_SYS_PIDFD_OPEN), child, 0)))
        } catch {
            kill(-child, SIGKILL)
            var status: Int32 = 0
            waitpid(child, &status, 0)
            throw error
        }
    }

    private static func sockets() throws(Errno) -> (OwnedDescriptor, OwnedDescriptor) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw Errno(rawValue: errno) }
        return (try nonBlocking(OwnedDescriptor(ends[0])), OwnedDescriptor(ends[1]))
    }

    private static func pipe() throws(Errno) -> (OwnedDescriptor, OwnedDescriptor) {
        var ends: [Int32] = [-1, -1]
        guard cl_pipe2(&ends, O_CLOEXEC) == 0 else { throw Errno(rawValue: errno) }
        return (try nonBlocking(OwnedDescriptor(ends[0])), OwnedDescriptor(ends[1]))
    }

    /// Only for our end: the program's end of a socket has its own flags.
    private static func nonBlocking(_ file: OwnedDescriptor) throws(Errno) -> OwnedDescriptor {
        guard fcntl(file.raw, F_SETFL, O_NONBLOCK) == 0 else { throw Errno(rawValue: errno) }
        return file
    }

    private static func spawn(_ call: ProgramCall, conversation: Int32, errors: Int32) throws(Errno) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, conversation, 0)
        posix_spawn_file_actions_adddup2(&actions, conversation, 1)
        posix_spawn_file_actions_adddup2(&actions, errors, 2)
        if let file = call.file { posix_spawn_file_actions_adddup2(&actions, file.raw, 3) }
        cl_spawn_closefrom(&actions, call.file == nil ? 3 : 4)
        cl_spawn_chdir(&actions, "/")
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        setSignals(&attributes)
        var words = call.words.map { strdup($0) } + [nil]
        var variables = call.environment.map { strdup($0) } + [nil]
        defer { for text in words + variables { free(text) } }
        var child = pid_t()
        let error = try ProgramUmask.apply {
            posix_spawnp(&child, call.path, &actions, &attributes, &words, &variables)
        }
        guard error == 0 else { throw Errno(rawValue: error) }
        return child
    }

    /// Its own group; no signals blocked or ignored.
    private static func setSignals(_ attributes: inout posix_spawnattr_t) {
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    }

    /// Waits for its end, which must be near.
    /// - Returns: Its status from waitpid(2).
    package func reap() -> Int32 {
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
        return status
    }
}
