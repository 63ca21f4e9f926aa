import ReplicaControl
import SystemPackage

/// What is mounted in a domain's state is neither the domain's nor to be removed with it.
enum MountsBelow {
    /// Throws `busy` where something is mounted below a path that has no links in it.
    static func refuse(_ path: FilePath) throws {
        guard let mount = try MountTable.read().first(where: { $0.path != path && $0.path.starts(with: path) }) else {
            return
        }
        throw ControlFailure(.busy, "\(mount.path) is a mount below the domain's state: unmount it first")
    }
}
