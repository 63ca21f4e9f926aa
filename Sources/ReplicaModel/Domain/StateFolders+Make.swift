internal import CLinux
internal import Glibc
package import SystemPackage

extension StateFolders {
    /// Creates the tree of a domain without local content: the root is listed when it is first used, like any other
    /// folder.
    /// - Throws: EEXIST if there is one.
    package func makeDomain() throws(Errno) {
        try make()
        try makeMark()
        let mark = try loadMark()
        let made = tree.withPlatformString { mkdir($0, 0o755) }
        guard made == 0 else { throw .last }
        guard tree.withPlatformString({ setxattr($0, OwnXattr.dataless, mark.value, mark.value.count, 0) }) == 0 else {
            let error = Errno.last
            _ = tree.withPlatformString { rmdir($0) }
            throw error
        }
    }

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
