import Glibc
import ReplicaControl
import SystemPackage

/// Files in a folder of units. What another user could have put there is neither written nor followed.
enum UnitFolder {
    /// Makes a folder and those above it, where they are not there.
    /// - Throws: `denied` if others than this user and root can change what is in one of them.
    static func make(_ path: FilePath) throws {
        var (above, status) = (path, stat())
        if above.removeLastComponent(), !above.isEmpty { try make(above) }
        if lstat(path.string, &status) != 0 {
            guard mkdir(path.string, 0o755) == 0 || errno == EEXIST else { throw failure(path) }
        }
        try check(path)
    }

    /// A link is its target's owner's to change, so both are looked at.
    private static func check(_ path: FilePath) throws {
        var (link, folder) = (stat(), stat())
        guard lstat(path.string, &link) == 0, stat(path.string, &folder) == 0 else { throw failure(path) }
        guard folder.st_mode & S_IFMT == S_IFDIR else { throw ControlFailure(.failed, "\(path) is no folder") }
        let isSticky = folder.st_mode & S_ISVTX != 0
        let isOpen = folder.st_mode & 0o002 != 0 || (folder.st_mode & 0o020 != 0 && folder.st_gid != getegid())
        guard [0, geteuid()].contains(folder.st_uid), [0, geteuid()].contains(link.st_uid), !isOpen || isSticky else {
            throw ControlFailure(.denied, "\(path) can be changed by other users, so no unit is written there")
        }
    }

    /// Replaces a file, in one step.
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
