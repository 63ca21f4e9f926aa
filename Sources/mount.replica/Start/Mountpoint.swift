import Glibc
import ReplicaControl
import SystemPackage

/// The directory to mount on.
enum Mountpoint {
    /// The directory's path without links, because this process changes its working directory. A dead mount of a killed
    /// daemon ("Transport endpoint is not connected") is removed first.
    /// - Throws: `mountFailed` if it is not a directory.
    static func prepared(_ path: FilePath) throws(ControlFailure) -> FilePath {
        guard let found = realpath(path.string, nil) else {
            throw ControlFailure(.mountFailed, "\(path): \(Errno(rawValue: errno))")
        }
        defer { free(found) }
        let resolved = FilePath(platformString: found)
        var status = stat()
        var failure = errorOfStat(resolved, &status)
        // A dying daemon aborts requests, and dead mounts may be stacked.
        for _ in 0..<mostDeadMounts where failure == ENOTCONN || failure == ECONNABORTED {
            if failure == ENOTCONN { try unmountDead(resolved) }
            failure = errorOfStat(resolved, &status)
        }
        guard failure == 0 else { throw ControlFailure(.mountFailed, "\(path): \(Errno(rawValue: failure))") }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw ControlFailure(.mountFailed, "\(path): not a directory") }
        return resolved
    }

    /// Throws `mountFailed` if something is mounted there. Mounts are not stacked: the lower one could no longer be
    /// reached or unmounted.
    static func refuseOccupied(_ path: FilePath) throws(ControlFailure) {
        // systemd's automount is meant to be mounted over.
        guard let there = try top(at: path), there.type != "autofs" else { return }
        throw ControlFailure(.mountFailed, "\(path): \(there.source) (\(there.type)) is mounted there already")
    }

    private static let mostDeadMounts = 100

    /// The topmost mount at a path.
    static func top(at path: FilePath) throws(ControlFailure) -> MountedFileSystem? {
        do { return try MountTable.top(at: path) } catch {
            throw ControlFailure(.mountFailed, "\(path): the mounts can't be read: \(error)")
        }
    }

    /// stat(2), and 0 or its errno. Because cached attributes may answer it, statfs(2) is called too.
    private static func errorOfStat(_ path: FilePath, _ status: inout stat) -> Int32 {
        var statistics = statvfs()
        return stat(path.string, &status) == 0 && statvfs(path.string, &statistics) == 0 ? 0 : errno
    }

    private static func unmountDead(_ path: FilePath) throws(ControlFailure) {
        if let there = try top(at: path), there.type != "fuse.replica" {
            throw ControlFailure(
                .mountFailed, "\(path): \(there.source) (\(there.type)) is mounted there, but its daemon is gone"
            )
        }
        guard Detachment.unmount(path) else {
            throw ControlFailure(.mountFailed, "\(path): a dead mount is there and can't be unmounted")
        }
    }
}
