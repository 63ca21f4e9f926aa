import ReplicaControl
import ReplicaModel
import SystemPackage

/// What the control service needs of the daemon around it.
protocol ControlledDaemon: Sendable {
    var location: DomainLocation { get }
    var domain: Domain { get }
    /// Where the domain is mounted, if it is.
    var mountpoint: FilePath? { get }
    /// A detached mount that is still in use.
    var heldMount: HeldMount? { get }
    /// Mounts the domain with `mount.replica`'s options; with `remount`, changes the options of its mount.
    func mount(at path: FilePath, options: [String]) async throws
    /// Unmounts and stops the daemon; `busy` while programs use the mount.
    func unmount() async throws
    /// Unmounts, removes the domain and stops the daemon.
    func remove(keep: RemovalMode) async throws -> RemovalResult

    /// Why the store can't be used now, if a reason is known.
    var storeTrouble: String? { get }
}
