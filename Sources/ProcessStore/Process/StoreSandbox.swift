import CLandlock
import CLinux
import ChildProcess
import Glibc

/// The steps of a store's process before it executes the store: it first executes this program again, because
/// posix_spawn(3) can't perform these steps, and after fork(2) the Swift runtime's locks could be in a locked state.
package enum StoreSandbox {
    /// The first argument of this program if it has to become a store; the parent's process ID and the store's path
    /// follow, and the folders that it may write to, if they are limited.
    package static let mark = "--become-store"

    /// Our own stores that parse what servers send, and write nowhere else. Nobody declares for other programs what they write, such
    /// as rclone's configuration with new tokens.
    private static let confined: Set = ["replica-store-s3", "replica-store-webdav"]

    /// The arguments after the program's name.
    /// - Parameters:
    ///   - name: The name of the store's program.
    ///   - folders: Its own.
    static func arguments(_ path: String, name: String, folders: [String], parent: pid_t = getpid()) -> [String] {
        [mark, "\(parent)", path] + (confined.contains(name) ? folders : [])
    }

    /// Becomes the store: the process ends with its parent, gains no rights by set-user-ID programs, and leaves no core
    /// dump, which would contain its secrets.
    /// - Parameter arguments: Those after the mark.
    package static func become(_ arguments: [String]) -> Never {
        guard arguments.count >= 2, let parent = pid_t(arguments[0]) else { fail("wrong arguments", EINVAL) }
        guard cl_prctl(CL_PR_SET_PDEATHSIG, UInt(SIGKILL), 0, 0, 0) == 0 else { fail("prctl", errno) }
        // If the parent had died before that call, no signal would arrive.
        guard getppid() == parent else { exit(1) }
        guard cl_prctl(CL_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 else { fail("prctl", errno) }
        guard PrivateMemory.forbidCoreDumps() else { fail("setrlimit", errno) }
        let (path, folders) = (arguments[1], Array(arguments.dropFirst(2)))
        if !folders.isEmpty { limitWrites(to: folders) }
        var words: [UnsafeMutablePointer<CChar>?] = [strdup(path), nil]
        execv(path, &words)
        fail(path, errno)
    }

    private static func limitWrites(to folders: [String]) {
        let paths = folders.map { UnsafePointer(strdup($0)) }
        let error = clandlock_limit_writes(paths, Int32(paths.count))
        if error != 0 { fail("landlock", -error) }
    }

    private static func fail(_ what: String, _ error: Int32) -> Never {
        let line = Array("\(what): \(String(cString: strerror(error)))\n".utf8)
        _ = line.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
        exit(127)
    }
}
