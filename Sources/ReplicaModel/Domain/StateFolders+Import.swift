internal import CLinux
internal import Glibc
package import SystemPackage

extension StateFolders {
    /// Renames a directory to become the tree of a domain, in constant time (statements 2, 5, 6 and 12). If this
    /// throws, the directory is unchanged; after a crash it was either moved or not.
    /// - Throws: EEXIST if the domain exists; ENOTDIR, ENOENT; EXDEV if it is on another filesystem; EBUSY for a
    ///   mount point; EPERM for another user's; EINVAL if it is in a domain or contains one.
    package func importDomain(from directory: FilePath) throws(Errno) {
        try Self.checkImportable(directory)
        try make()
        try makeMark()
        let moved = directory.withPlatformString { from in
            tree.withPlatformString { renameat2(AT_FDCWD, from, AT_FDCWD, $0, UInt32(CL_RENAME_NOREPLACE)) }
        }
        guard moved == 0 else { throw .last }
    }

    /// Throws the errors of ``importDomain(from:)`` that concern the directory itself, before anything is created.
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

    /// Like ``checkImportable(_:)``, for a known store.
    /// - Throws: Also ENOTSUP if the store does not allow imports (statement 11).
    package static func checkImportable(_ directory: FilePath, into store: StoreProperties) throws(Errno) {
        guard store.allowsImport else { throw .notSupported }
        try checkImportable(directory)
    }

    /// Whether a path without symlinks is the state of a domain, or in one.
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
}
