internal import CLinux
internal import Glibc
package import SystemPackage

extension StateFolders {
    /// Creates the tree of a domain without local content: the root is listed when it is first used, like any other
    /// folder.
    /// - Throws: EEXIST when there is one.
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

    /// Makes the tree of a domain of a directory by one rename, whatever its size (statements 2, 5, 6 and 12). It is done when this
    /// returns, and untouched when it throws; a crash leaves one or the other.
    /// - Throws: EEXIST when the domain exists; ENOTDIR, ENOENT; EXDEV when it lies on another filesystem; EBUSY for a
    ///   mount point; EPERM for another user's; EINVAL for what is in a domain or contains one.
    package func importDomain(from directory: FilePath) throws(Errno) {
        try Self.checkImportable(directory)
        try make()
        try makeMark()
        let moved = directory.withPlatformString { from in
            tree.withPlatformString { renameat2(AT_FDCWD, from, AT_FDCWD, $0, UInt32(CL_RENAME_NOREPLACE)) }
        }
        guard moved == 0 else { throw .last }
    }

    /// Throws what ``importDomain(from:)`` would throw of the directory itself, before anything is made.
    package static func checkImportable(_ directory: FilePath) throws(Errno) {
        let status = try status(directory)
        guard status.kind == .folder else { throw .notDirectory }
        guard geteuid() == 0 || status.user == geteuid() else { throw .notPermitted }
        let above = try self.status(directory.appending(".."))
        guard !status.isMountPoint, above.device == status.device, above.inode != status.inode else {
            throw .resourceBusy
        }
        if isInDomain(try resolved(directory)) { throw .invalidArgument }
    }

    /// As ``checkImportable(_:)``, when the store is known that is to have it.
    /// - Throws: Also ENOTSUP when that takes no import (statement 11).
    package static func checkImportable(_ directory: FilePath, into store: StoreProperties) throws(Errno) {
        guard store.allowsImport else { throw .notSupported }
        try checkImportable(directory)
    }

    /// Whether a path, which has no links in it, is in the state of a domain, or is one.
    package static func isInDomain(_ path: FilePath) -> Bool {
        var above = path
        while true {
            let record = Self(root: above)
            if [record.settings, record.database].allSatisfy({ $0.withPlatformString { access($0, F_OK) == 0 } }) {
                return true
            }
            guard above.removeLastComponent() else { return false }
        }
    }

    private static func resolved(_ path: FilePath) throws(Errno) -> FilePath {
        guard let found = path.withPlatformString({ realpath($0, nil) }) else { throw .last }
        defer { free(found) }
        return FilePath(platformString: found)
    }

    private static func status(_ path: FilePath) throws(Errno) -> FileStatus {
        let file = try Errno.check(path.withPlatformString { open($0, CL_O_PATH | O_NOFOLLOW | O_CLOEXEC) })
        defer { close(file) }
        return try FileStatus(descriptor: file)
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
