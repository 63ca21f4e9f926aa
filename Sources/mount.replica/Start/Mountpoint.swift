import CLinux
import FuseMount
import Glibc
import ReplicaControl
import ReplicaModel
import SystemPackage

/// The directory to mount on.
enum Mountpoint {
    /// The directory's absolute path, because this process changes its working directory. A dead mount of a killed
    /// daemon ("Transport endpoint is not connected") stays until the session mounts there: if that is not possible, programs
    /// would write into the directory below.
    /// - Throws: `mountFailed` if it is not a directory, or a symbolic link is on the way. Those that the user typed are
    ///   followed by mount(8) and `replica mount`, once; at a unit's start they could lead anywhere.
    static func prepared(_ path: FilePath) throws(ControlFailure) -> FilePath {
        var failure = Errno.socketNotConnected
        // A dying daemon aborts requests.
        for _ in 0..<mostAborted {
            let place = try open(path)
            defer { close(place) }
            var status = stat()
            guard let error = errorOfStat(place, &status) else {
                guard status.st_mode & S_IFMT == S_IFDIR else {
                    throw ControlFailure(.mountFailed, "\(path): not a directory")
                }
                return try kernelPath(of: place)
            }
            failure = error
            if failure == .connectionAbort { continue }
            guard failure == .socketNotConnected else { break }
            // Nil: somebody has unmounted it meanwhile.
            guard let there = try mount(of: place, path) else { continue }
            guard there.type == ours else {
                throw ControlFailure(
                    .mountFailed, "\(path): \(there.source) (\(there.type)) is mounted there, but its daemon is gone")
            }
            return try kernelPath(of: place)
        }
        throw ControlFailure(.mountFailed, "\(path): \(failure)")
    }

    /// An `O_PATH` descriptor of what is at the path now.
    static func open(_ path: FilePath) throws(ControlFailure) -> Int32 {
        do throws(Errno) { return try HeldMountpoint.open(path.string) } catch {
            let reason =
                error == .tooManySymbolicLinkLevels
                ? "a symbolic link is on the way; name the directory by its own path" : "\(error)"
            throw ControlFailure(.mountFailed, "\(path): \(reason)")
        }
    }

    /// Throws `mountFailed` if something is mounted there. Mounts are not stacked: the lower one could no longer be
    /// reached or unmounted.
    static func refuseOccupied(_ path: FilePath) throws(ControlFailure) {
        let there = try top(at: path)
        try refuse(there, at: path)
        // Nothing is asked of an automount, which would wait for this mount.
        guard StateFolders.isInDomain(there == nil ? path : path.removingLastComponent()) else { return }
        throw ControlFailure(.mountFailed, "\(path) is in the state of a domain")
    }

    /// The same after mounting: another process may have mounted something there since the check.
    /// - Parameter number: The new mount's, in the table.
    static func refuseStacked(_ number: UInt64, at path: FilePath) throws(ControlFailure) {
        let below: MountedFileSystem?
        do { below = try MountTable.mount(below: number) } catch { throw unreadable(path, error) }
        try refuse(below, at: path)
    }

    private static func refuse(_ there: MountedFileSystem?, at path: FilePath) throws(ControlFailure) {
        // systemd's automount is meant to be mounted over.
        guard let there, there.type != "autofs" else { return }
        throw ControlFailure(.mountFailed, "\(path): \(there.source) (\(there.type)) is mounted there already")
    }

    private static func unreadable(_ path: FilePath, _ error: any Error) -> ControlFailure {
        ControlFailure(.mountFailed, "\(path): the mounts can't be read: \(error)")
    }

    private static let mostAborted = 100
    /// The type of the mounts of domains.
    private static let ours = "fuse.replica"

    /// The topmost mount at a path, except dead ones of domains, which make room for another.
    static func top(at path: FilePath) throws(ControlFailure) -> MountedFileSystem? {
        do {
            let all = try MountTable.read().filter { $0.path == path }
            guard all.last?.type == ours, isDead(path) else { return all.last }
            return all.last { $0.type != ours }
        } catch {
            throw unreadable(path, error)
        }
    }

    /// Where the directory is on the disk.
    /// - Throws: An `Errno`.
    static func place(of path: FilePath) throws -> DiskPlace {
        guard isDead(path), let name = path.lastComponent else { return try DiskPlace(of: path) }
        var place = try DiskPlace(of: path.removingLastComponent())
        place.seen.append(name)
        place.path.append(name)
        return place
    }

    private static func isDead(_ path: FilePath) -> Bool {
        guard let place = try? open(path) else { return false }  // Without it, nothing can be mounted there.
        defer { close(place) }
        var status = stat()
        return errorOfStat(place, &status) == .socketNotConnected
    }

    /// The mount that a place is in.
    static func mount(of place: Int32, _ path: FilePath) throws(ControlFailure) -> MountedFileSystem? {
        do { return try MountTable.mount(of: place) } catch { throw unreadable(path, error) }
    }

    /// The error of stat(2), or nil. Because cached attributes may answer it, statfs(2) is called too.
    private static func errorOfStat(_ place: Int32, _ status: inout stat) -> Errno? {
        var statistics = statvfs()
        return fstat(place, &status) == 0 && fstatvfs(place, &statistics) == 0 ? nil : Errno(rawValue: errno)
    }

    /// Not realpath(3), which would look the path up again.
    private static func kernelPath(of place: Int32) throws(ControlFailure) -> FilePath {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        guard readlink("\(CL_DESCRIPTORS)\(place)", &target, target.count - 1) > 0 else {
            throw ControlFailure(.mountFailed, "\(CL_DESCRIPTORS)\(place): \(Errno(rawValue: errno))")
        }
        return FilePath(platformString: target)
    }
}
