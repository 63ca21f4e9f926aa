import FuseMount
import Glibc
import ReplicaControl
import ReplicaFileSystem
import ReplicaModel
import SystemPackage
import Threads

/// A domain at its mountpoint.
final class LiveMount: Sendable {
    let path: FilePath
    private let session: Session
    private let state: FilePath
    private let record: MountRecord
    private let ended = Latch()

    /// Mounts; the kernel's requests wait until ``run(then:)``.
    init(
        _ domain: Domain, of location: DomainLocation, at path: FilePath, _ options: MountOptions, noHydrate: [String]
    ) throws(ControlFailure) {
        try Mountpoint.refuseOccupied(path)
        self.path = path
        state = location.state
        var fileSystemOptions = FileSystemOptions()
        fileSystemOptions.programsThatDoNotHydrate = Set(noHydrate)
        fileSystemOptions.accessTimes = options.accessTimes
        let fileSystem = DomainFileSystem(
            replica: domain.replica, source: domain, status: VirtualAttributes(domain: domain),
            mountpoint: path.string, options: fileSystemOptions)
        var mountOptions = FuseMount.MountOptions(fsName: options.fsName ?? location.name.text, subtype: "replica")
        mountOptions.readOnly = options.readOnly
        mountOptions.allowOther = options.allowOther
        mountOptions.extra = options.vfs.filter { $0 != "ro" } + options.granted
        mountOptions.passthroughProgram = PassthroughProgram.path
        // A dead mount is not removed for one that can't be kept.
        do { try MountRecord.makeRoom(state: state) } catch { throw Self.unrecorded(state, error) }
        do throws(MountError) {
            session = try Session(fileSystem, options: mountOptions)
            try session.mount(at: path.string)
        } catch {
            throw ControlFailure(.mountFailed, "\(error)")
        }
        guard let numbers = session.numbers else { throw Self.unrecorded(state, Errno.invalidArgument) }
        // What this throws ends the session, and with it the mount.
        try Mountpoint.refuseStacked(numbers.inTable, at: path)
        do {
            let device = DeviceNumber(major: numbers.major, minor: numbers.minor)
            record = try MountRecord(at: path, device: device, number: numbers.mount)
            try record.write(state: state)
        } catch {
            throw Self.unrecorded(state, error)
        }
    }

    private static func unrecorded(_ state: FilePath, _ error: any Error) -> ControlFailure {
        ControlFailure(.mountFailed, "\(state): the mount cannot be recorded: \(error)")
    }

    /// Serves the mount on a separate thread; `then` is called when it is gone.
    /// - Throws: `mountFailed` if no thread could be created; the mount then ends with this object.
    func run(then: @escaping @Sendable () -> Void) throws(ControlFailure) {
        let body: @Sendable () -> Void = { [session, ended, state] in
            do throws(Errno) {
                try session.run()
            } catch {
                StandardError.say("the mount ended: \(error)")
            }
            MountRecord.remove(state: state)
            then()
            ended.open()
        }
        guard BlockingWork.start(body) else {
            throw ControlFailure(.mountFailed, "\(path): no thread could be created to serve it")
        }
    }

    /// Unmounts exactly this mount; with `isLazy` even while programs use it. A mount that is already gone is not an error.
    func unmount(isLazy: Bool) throws(Errno) {
        do throws(Errno) {
            try session.unmount(lazy: isLazy)
        } catch {
            if error != .invalidArgument { throw error }
        }
    }

    /// Whether it is attached. A detached mount may still be in use.
    var isMounted: Bool { session.isMounted }

    /// The processes that use it.
    var holders: [Int32] { MountHolders.processes(using: record.device) }

    /// The users of the mount if it is detached; otherwise nil.
    var held: HeldMount? {
        // umount(8) returns a moment before the kernel tells us.
        guard !isMounted, !ended.wait(seconds: 0.1) else { return nil }
        return HeldMount(path: ControlFilePath(path), processes: holders)
    }

    /// Why it cannot be unmounted, as a message.
    var whyBusy: String {
        let names = holders.prefix(5).compactMap(MountHolders.name)
        return names.isEmpty ? "\(path) is in use" : "\(path) is in use by \(names.joined(separator: ", "))"
    }

    /// Blocks until the mount is gone; a detached one is disconnected from its users after
    /// ``graceSeconds``.
    func waitForEnd() {
        while !ended.wait(seconds: Self.graceSeconds) {
            if !isMounted { session.end() }
        }
    }

    /// For how many seconds the users of a detached mount may continue while its end is awaited.
    private static let graceSeconds = 2.0
}

extension MountOptions {
    /// Like the kernel, which gives `strictatime` precedence.
    fileprivate var accessTimes: AccessTimes? {
        if vfs.contains("strictatime") { return .always }
        if vfs.contains("noatime") { return .never }
        return vfs.contains("relatime") ? .relative : nil
    }
}
