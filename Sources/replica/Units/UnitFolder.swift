import Glibc
import ReplicaControl
import SystemPackage

/// Files in a folder of units. An entry that another user could have created is neither written nor followed.
enum UnitFolder {
    /// Creates a folder and its missing parents.
    /// - Throws: `denied` if users other than this one and root can change the contents of one of them.
    static func make(_ path: FilePath) throws {
        var (above, status) = (path, stat())
        if above.removeLastComponent(), !above.isEmpty { try make(above) }
        if lstat(path.string, &status) != 0 {
            guard mkdir(path.string, 0o755) == 0 || errno == EEXIST else { throw failure(path) }
        }
        try check(path)
    }

    /// The owner of the target can change what a link leads to, so both are checked.
    private static func check(_ path: FilePath) throws {
        var (link, folder) = (stat(), stat())
        guard lstat(path.string, &link) == 0, stat(path.string, &folder) == 0 else { throw failure(path) }
        guard folder.st_mode & S_IFMT == S_IFDIR else { throw ControlFailure(.failed, "\(path) is not a folder") }
        let isSticky = folder.st_mode & S_ISVTX != 0
        let isOpen = folder.st_mode & 0o002 != 0 || (folder.st_mode & 0o020 != 0 && folder.st_gid != getegid())
        guard [0, geteuid()].contains(folder.st_uid), [0, geteuid()].contains(link.st_uid), !isOpen || isSticky else {
            throw ControlFailure(.denied, "\(path) can be changed by other users, so no unit is written there")
        }
    }

    /// Replaces a file atomically.
    static func write(_ text: String, to path: FilePath) throws {
        let fresh = FilePath(path.string + ".new")
        unlink(fresh.string)
        let file: FileDescriptor
        do {
            file = try FileDescriptor.open(
                fresh, .writeOnly, options: [.create, .exclusiveCreate, .closeOnExec, .noFollow],
                permissions: [.ownerReadWrite, .groupRead, .otherRead])
        } catch { throw failure(fresh) }
        do {
            try file.closeAfter { _ = try file.writeAll(text.utf8) }
        } catch {
            unlink(fresh.string)
            throw ControlFailure(.failed, "\(path): \(error)")
        }
        guard rename(fresh.string, path.string) == 0 else {
            let error = failure(path)
            unlink(fresh.string)
            throw error
        }
    }

    private static func failure(_ path: FilePath) -> ControlFailure {
        let error = Errno(rawValue: errno)
        return ControlFailure(error == .permissionDenied ? .denied : .failed, "\(path): \(error)")
    }
}
