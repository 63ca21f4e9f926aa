import ReplicaControl
import ReplicaModel
import SystemPackage

/// What the control service needs of the daemon around it.
protocol DaemonControl: Sendable {
    var location: DomainLocation { get }
    var domain: Domain { get }
    /// Where the domain is mounted, if it is.
    var mountpoint: FilePath? { get }
    /// A mount that was taken from the tree and is still in use.
    var heldMount: HeldMount? { get }
    /// Mounts the domain with `mount.replica`'s options.
    func mount(at path: FilePath, options: [String]) async throws
    /// Takes the mount away and has the daemon end; `busy` while programs use it.
    func unmount() async throws
    /// Takes the mount and the domain away and has the daemon end.
    func remove(keep: RemovalMode) async throws -> RemovalResult
}
