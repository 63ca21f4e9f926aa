internal import CLinux
internal import Glibc
package import SystemPackage

/// The umask of the programs that this process starts.
///
/// A daemon has none, because it creates files with exactly the modes that it is given. What it starts gets the umask with which the
/// daemon itself was started: otherwise everybody could change what a program creates with 0666, as most do.
package enum ProgramUmask {
    // Written before there are other threads.
    nonisolated(unsafe) private static var former: mode_t?

    /// Clears this process's umask, and keeps it for programs. Call it once, before there are other threads.
    package static func clear() { former = umask(0) }

    /// Calls `spawn`, which starts a program.
    ///
    /// Threads share a umask, and at any time others create files. So the calling thread gets one of its own, and with it a working
    /// directory of its own.
    /// - Throws: The errno of unshare(2). `spawn` is then not called.
    package static func apply<Result>(_ spawn: () -> Result) throws(Errno) -> Result {
        guard let former else { return spawn() }
        guard unshare(CL_CLONE_FS) == 0 else { throw Errno(rawValue: errno) }
        let own = umask(former)
        defer { umask(own) }
        return spawn()
    }
}
