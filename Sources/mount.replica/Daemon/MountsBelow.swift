import ReplicaControl
import SystemPackage

/// Filesystems mounted in a domain's state do not belong to the domain: they must not be shown, emptied or removed with it.
enum MountsBelow {
    /// Throws `busy` if something is mounted below a path, which must not contain links.
    static func refuse(_ path: FilePath) throws {
        guard let mount = try MountTable.read().first(where: { $0.path != path && $0.path.starts(with: path) }) else {
            return
        }
        throw ControlFailure(.busy, "\(mount.path) is a mount below the domain's state: unmount it first")
    }
}
