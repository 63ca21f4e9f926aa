import CLinux
import Glibc
import ReplicaControl
import ReplicaModel
import SystemPackage

/// The location of something on its disk, independent of the path: with bind mounts, several paths lead to one folder.
struct DiskPlace: Hashable {
    /// The path as programs see it, without links.
    var seen: FilePath
    /// The filesystem.
    var device: DeviceNumber
    /// From the root of the filesystem.
    var path: FilePath
    /// Whether it is in a mount of ours, or in the state of a domain.
    var isInReplica = false

    /// Whether `other` is this place or below it.
    func covers(_ other: DiskPlace) -> Bool {
        other.seen.starts(with: seen) || device == other.device && other.path.starts(with: path)
    }

    /// Whether one contains the other.
    func meets(_ other: DiskPlace) -> Bool { covers(other) || other.covers(self) }
}

extension DiskPlace {
    /// Finds the location of a path; components that do not exist yet are taken literally.
    /// - Throws: An `Errno`.
    init(of path: FilePath) throws {
        let (there, rest) = try Self.resolve(path)
        seen = Self.joined(there, rest)
        var status = cl_statx()
        guard cl_statx_of(AT_FDCWD, there.string, CL_AT_STATX_DONT_SYNC, CL_STATX_MNT_ID, &status) == 0 else {
            throw Errno(rawValue: errno)
        }
        device = DeviceNumber(major: status.dev_major, minor: status.dev_minor)
        self.path = seen
        isInReplica = StateFolders.isInDomain(there)
        guard let mount = try MountTable.read().first(where: { $0.number == status.mnt_id }) else { return }
        device = mount.device
        isInReplica = isInReplica || mount.type == "fuse.replica"
        var below = there
        if below.removePrefix(mount.path) { self.path = Self.joined(Self.joined(mount.root, below), rest) }
    }

    /// The existing part of the path, without links, and the rest of it.
    private static func resolve(_ path: FilePath) throws(Errno) -> (there: FilePath, rest: FilePath) {
        var (above, rest) = (path, FilePath())
        while true {
            if let found = realpath(above.string, nil) {
                defer { free(found) }
                return (FilePath(platformString: found), rest)
            }
            guard errno == ENOENT, let last = above.lastComponent else { throw Errno(rawValue: errno) }
            rest = joined(FilePath(root: nil, [last]), rest)
            above.removeLastComponent()
        }
    }

    private static func joined(_ path: FilePath, _ rest: FilePath) -> FilePath {
        rest.isEmpty ? path : path.appending(rest.components)
    }
}
