internal import CLinux
internal import CWalk
internal import Glibc
package import SystemPackage

/// A directory that may be imported, and the folder that contains it. Both are held: a user who may rename in a folder on
/// the way can neither have another directory moved into the domain, nor have this one moved back to another place.
package final class DirectoryToImport: Sendable {
    /// As given.
    package let path: FilePath
    private let name: FileName
    /// `O_PATH` descriptors. The directory's keeps its inode number, which not every filesystem does.
    private let folder, directory: Int32

    /// Finds and checks it, before anything is created.
    /// - Throws: ENOTDIR, ENOENT; ELOOP for a symlink on the way; EBUSY for a mountpoint; EPERM for another user's;
    ///   EINVAL if it is in a domain.
    package init(_ path: FilePath) throws(Errno) {
        guard let last = path.lastComponent else { throw .resourceBusy }
        self.path = path
        name = last.withPlatformString { FileName(cString: $0) }
        let folder = try Self.openFolder(path.removingLastComponent())
        do throws(Errno) {
            directory = try name.withCString { (text) throws(Errno) in
                try Errno.check(openat(folder, text, CL_O_PATH | O_NOFOLLOW | O_CLOEXEC))
            }
        } catch {
            close(folder)
            throw error
        }
        self.folder = folder
        try check()
    }

    deinit {
        close(directory)
        close(folder)
    }

    /// - Throws: ENOTSUP if this store does not allow imports (statement 11).
    package func check(_ store: StoreProperties) throws(Errno) {
        guard store.allowsImport else { throw .notSupported }
    }

    /// Renames it.
    /// - Throws: ESTALE if something else has its name by now, which is moved back; the errors of rename(2).
    func move(to place: FilePath) throws(Errno) {
        try name.withCString { (from) throws(Errno) in
            try Errno.check(
                place.withPlatformString { renameat2(folder, from, AT_FDCWD, $0, UInt32(CL_RENAME_NOREPLACE)) })
        }
        do throws(Errno) {
            // Nobody else can rename in the domain's folder.
            let found = try FileStatus(place.withPlatformString { FileName(cString: $0) }, in: AT_FDCWD)
            let meant = try FileStatus(descriptor: directory)
            guard found.inode == meant.inode, found.device == meant.device else { throw .stale }
        } catch {
            try moveBack(from: place)
            throw error
        }
    }

    /// Renames what was moved to this place to its name in its folder.
    /// - Throws: EEXIST if something has that name by now.
    func moveBack(from place: FilePath) throws(Errno) {
        try name.withCString { (to) throws(Errno) in
            try Errno.check(
                place.withPlatformString { renameat2(AT_FDCWD, $0, folder, to, UInt32(CL_RENAME_NOREPLACE)) })
        }
    }

    private static func openFolder(_ path: FilePath) throws(Errno) -> Int32 {
        let opened = path.withPlatformString { cwalk_open($0, O_DIRECTORY) }
        guard opened >= 0 else { throw Errno(rawValue: -opened) }
        return opened
    }

    private func check() throws(Errno) {
        let status = try FileStatus(descriptor: directory)
        guard status.kind == .folder else { throw .notDirectory }
        guard geteuid() == 0 || status.user == geteuid() else { throw .notPermitted }
        let above = try FileStatus(descriptor: folder)
        guard !status.isMountPoint, above.device == status.device else { throw .resourceBusy }
        if StateFolders.isInDomain(try Self.path(of: directory)) { throw .invalidArgument }
    }

    /// The kernel's own path, without links.
    private static func path(of directory: Int32) throws(Errno) -> FilePath {
        let place = BackingPath(folder: AT_FDCWD, name: FileName("\(CL_DESCRIPTORS)\(directory)"))
        return FilePath(platformString: try place.target().map { CChar(bitPattern: $0) } + [0])
    }
}

extension StateFolders {
    /// Renames a directory to become the tree of a domain, in constant time (statements 2, 5, 6 and 12). If this
    /// throws, the directory is unchanged; after a crash it was either moved or not.
    /// - Throws: EEXIST if the domain exists; EXDEV if it is on another filesystem; ESTALE if something else has the
    ///   directory's name by now; EINVAL if it contains the domain's folder.
    package func importDomain(from directory: DirectoryToImport) throws(Errno) {
        try make()
        try makeMark()
        try directory.move(to: tree)
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
}
