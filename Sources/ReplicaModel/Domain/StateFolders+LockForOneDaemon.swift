internal import Glibc
internal import SystemPackage

extension StateFolders {
    /// Makes sure that one process serves the domain.
    /// - Returns: A descriptor that holds the lock until it is closed.
    func lockForServing() throws(Errno) -> Int32 {
        try make()
        let file = try Errno.check(
            lock.withPlatformString { open($0, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600) })
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            close(file)
            throw Errno.last == .wouldBlock ? .resourceBusy : .last
        }
        return file
    }
}
