import FuseMount
import Glibc
import ReplicaControl
import ReplicaFileSystem
import ReplicaModel
import SystemPackage

/// A domain at its mountpoint.
final class LiveMount: Sendable {
    let path: FilePath
    private let session: Session
    private let ended = Latch()

    /// Mounts; the kernel's requests wait until ``run(then:)``.
    init(
        _ domain: Domain, at path: FilePath, _ options: MountOptions, source: String, noHydrate: [String]
    ) throws(ControlFailure) {
        self.path = path
        var fileSystemOptions = FileSystemOptions()
        fileSystemOptions.programsThatDoNotHydrate = Set(noHydrate)
        let fileSystem = DomainFileSystem(
            replica: domain.replica, source: domain, status: VirtualAttributes(domain: domain),
            mountpoint: path.string, options: fileSystemOptions)
        var mountOptions = FuseMount.MountOptions(fsName: source, subtype: "replica")
        mountOptions.readOnly = options.readOnly
        mountOptions.allowOther = options.allowOther
        mountOptions.extra = options.vfs.filter { $0 != "ro" }
        do throws(MountError) {
            session = try Session(fileSystem, options: mountOptions)
            try session.mount(at: path.string)
        } catch {
            throw ControlFailure(.mountFailed, "\(error)")
        }
    }

    /// Serves the mount on a thread of its own; `then` is called when it is gone.
    /// - Throws: `mountFailed` without a thread: it goes with this object then.
    func run(then: @escaping @Sendable () -> Void) throws(ControlFailure) {
        let body: @Sendable () -> Void = { [session, ended] in
            do throws(Errno) {
                try session.run()
            } catch {
                StandardError.say("the mount ended: \(error)")
            }
            then()
            ended.open()
        }
        guard BlockingWork.start(body) else {
            throw ControlFailure(.mountFailed, "\(path): there is no thread left to serve it")
        }
    }

    /// Takes the mount away; `isLazy` also while programs use it.
    func unmount(isLazy: Bool) throws(Errno) { try session.unmount(lazy: isLazy) }

    /// Whether the kernel still has it.
    var isMounted: Bool { MountTable.hasReplica(at: path) }

    /// Blocks until the mount is gone.
    func waitForEnd() { ended.wait() }
}
