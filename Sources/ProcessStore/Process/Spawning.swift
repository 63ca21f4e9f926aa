import CLinux
import Foundation
import Glibc
import SystemPackage

/// A process that was just started, with our ends of what it has.
struct SpawnedProcess {
    let identifier: pid_t
    /// Readable when the process has ended.
    let handle: OwnedDescriptor
    /// Its descriptors 0 and 1.
    let conversation: OwnedDescriptor
    /// Its standard error.
    let errors: OwnedDescriptor

    /// Starts a program in a process group of its own, with no descriptor but those of the protocol.
    /// - Parameter isLaunched: Whether this program runs first and becomes the store (``StoreLaunch``). It ends with the calling
    ///   thread then.
    /// - Throws: Why that can't be done, as an errno.
    init(_ program: StoreProgram, isLaunched: Bool, environment: [String]) throws(Errno) {
        let (ours, its) = try Self.sockets()
        let (reading, writing) = try Self.pipe()
        let child = try Self.spawn(
            program, isLaunched: isLaunched, environment: environment, conversation: its.raw, errors: writing.raw)
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

    /// Ours only: the store's end of a socket has flags of its own.
    private static func nonBlocking(_ file: OwnedDescriptor) throws(Errno) -> OwnedDescriptor {
        guard fcntl(file.raw, F_SETFL, O_NONBLOCK) == 0 else { throw Errno(rawValue: errno) }
        return file
    }

    private static func spawn(
        _ program: StoreProgram, isLaunched: Bool, environment: [String], conversation: Int32, errors: Int32
    ) throws(Errno) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, conversation, 0)
        posix_spawn_file_actions_adddup2(&actions, conversation, 1)
        posix_spawn_file_actions_adddup2(&actions, errors, 2)
        if let file = program.file { posix_spawn_file_actions_adddup2(&actions, file.raw, 3) }
        cl_spawn_closefrom(&actions, program.file == nil ? 3 : 4)
        cl_spawn_chdir(&actions, "/")
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        setSignals(&attributes)
        // By the descriptor, and not by the name: what is run is what was checked.
        let own = program.file == nil ? program.path.string : "/proc/self/fd/3"
        let arguments = isLaunched ? StoreLaunch.arguments(own) : []
        var words = ([program.name] + arguments).map { strdup($0) } + [nil]
        var variables = environment.map { strdup($0) } + [nil]
        defer { for text in words + variables { free(text) } }
        let path = isLaunched ? "/proc/self/exe" : own
        var child = pid_t()
        let error = posix_spawn(&child, path, &actions, &attributes, &words, &variables)
        guard error == 0 else { throw Errno(rawValue: error) }
        return child
    }

    /// A group of its own, no signal blocked, none ignored.
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
}

/// What a store's process finds in its environment.
enum StoreEnvironment {
    private static let names = [
        "PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME",
        "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
        "SSL_CERT_FILE", "SSL_CERT_DIR",
    ]

    /// Of this process's environment what the protocol names, as `NAME=VALUE`; for root a fixed PATH.
    static func entries(
        of environment: [String: String] = ProcessInfo.processInfo.environment, isRoot: Bool = geteuid() == 0
    ) -> [String] {
        names.compactMap { name in
            if isRoot, name == "PATH" { return "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" }
            return environment[name].map { "\(name)=\($0)" }
        }
    }
}
