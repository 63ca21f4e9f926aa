import CLinux
import FuseMount
import Glibc
import ReplicaControl
import SystemPackage

/// The directory to mount on.
enum Mountpoint {
    /// The directory's absolute path, because this process changes its working directory. A dead mount of a killed
    /// daemon ("Transport endpoint is not connected") is removed first.
    /// - Throws: `mountFailed` if it is not a directory, or a symbolic link is on the way. Those that a person typed are
    ///   followed by mount(8) and `replica mount`, once; at a unit's start they could lead anywhere.
    static func prepared(_ path: FilePath) throws(ControlFailure) -> FilePath {
        var failure = Errno.socketNotConnected
        // A dying daemon aborts requests, and dead mounts may be stacked.
        for _ in 0..<mostDeadMounts {
            let place = try open(path)
            defer { close(place) }
            var status = stat()
            failure = errorOfStat(place, &status)
            if failure == .connectionAbort { continue }
            if failure == .socketNotConnected {
                try unmountDead(place, path)
                continue
            }
            guard failure == Errno(rawValue: 0) else { break }
            guard status.st_mode & S_IFMT == S_IFDIR else {
                throw ControlFailure(.mountFailed, "\(path): not a directory")
            }
            return try kernelPath(of: place)
        }
        throw ControlFailure(.mountFailed, "\(path): \(failure)")
    }

    /// An `O_PATH` descriptor of what is at the path now.
    static func open(_ path: FilePath) throws(ControlFailure) -> Int32 {
        do throws(Errno) { return try Place.open(path.string) } catch {
            let reason =
                error == .tooManySymbolicLinkLevels
                ? "a symbolic link is on the way; name the directory by its own path" : "\(error)"
            throw ControlFailure(.mountFailed, "\(path): \(reason)")
        }
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

    /// The mount that a place is in.
    static func mount(of place: Int32, _ path: FilePath) throws(ControlFailure) -> MountedFileSystem? {
        do { return try MountTable.mount(of: place) } catch {
            throw ControlFailure(.mountFailed, "\(path): the mounts can't be read: \(error)")
        }
    }

    /// stat(2), and 0 or its errno. Because cached attributes may answer it, statfs(2) is called too.
    private static func errorOfStat(_ place: Int32, _ status: inout stat) -> Errno {
        var statistics = statvfs()
        return Errno(rawValue: fstat(place, &status) == 0 && fstatvfs(place, &statistics) == 0 ? 0 : errno)
    }

    /// Not realpath(3), which would look the path up again.
    private static func kernelPath(of place: Int32) throws(ControlFailure) -> FilePath {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        guard readlink("\(CL_DESCRIPTORS)\(place)", &target, target.count - 1) > 0 else {
            throw ControlFailure(.mountFailed, "\(CL_DESCRIPTORS)\(place): \(Errno(rawValue: errno))")
        }
        return FilePath(platformString: target)
    }

    private static func unmountDead(_ place: Int32, _ path: FilePath) throws(ControlFailure) {
        // Nil: somebody else has unmounted it, and the caller looks again.
        guard let there = try mount(of: place, path) else { return }
        if there.type != "fuse.replica" {
            throw ControlFailure(
                .mountFailed, "\(path): \(there.source) (\(there.type)) is mounted there, but its daemon is gone"
            )
        }
        guard Detachment.unmount(place, at: path) else {
            throw ControlFailure(.mountFailed, "\(path): a dead mount is there and can't be unmounted")
        }
    }
}
