import CLinux
import ChildProcess
import Glibc

/// The steps of a store's process before it executes the store: it first executes this program again, because
/// posix_spawn(3) can't perform these steps, and after fork(2) the Swift runtime's locks could be in a locked state.
package enum StoreLaunch {
    /// The first argument of this program if it has to become a store; the parent's process ID and the store's path
    /// follow.
    package static let mark = "--become-store"

    /// The arguments after the program's name.
    static func arguments(_ path: String, parent: pid_t = getpid()) -> [String] { [mark, "\(parent)", path] }

    /// Becomes the store: the process ends with its parent, gains no rights by set-user-ID programs, and leaves no core
    /// dump, which would contain its secrets.
    /// - Parameter arguments: Those after the mark.
    package static func become(_ arguments: [String]) -> Never {
        guard arguments.count == 2, let parent = pid_t(arguments[0]) else { fail("wrong arguments", EINVAL) }
        guard cl_prctl(CL_PR_SET_PDEATHSIG, UInt(SIGKILL), 0, 0, 0) == 0 else { fail("prctl", errno) }
        // If the parent had died before that call, no signal would arrive.
        guard getppid() == parent else { exit(1) }
        guard cl_prctl(CL_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 else { fail("prctl", errno) }
        guard PrivateMemory.forbidCoreDumps() else { fail("setrlimit", errno) }
        let path = arguments[1]
        var words: [UnsafeMutablePointer<CChar>?] = [strdup(path), nil]
        execv(path, &words)
        fail(path, errno)
    }

    private static func fail(_ what: String, _ error: Int32) -> Never {
        let line = Array("\(what): \(String(cString: strerror(error)))\n".utf8)
        _ = line.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
        exit(127)
    }
}
