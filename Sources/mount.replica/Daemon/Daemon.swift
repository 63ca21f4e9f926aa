import FuseMount
import Glibc
import Logging
import ReplicaControl
import ReplicaFileSystem
import ReplicaModel
import SystemPackage
import Threads

/// The process that serves a domain: its replica, syncing, its mount and its socket.
final class Daemon: Sendable {
    private struct State {
        var mount: LiveMount?
        /// While a mount is made, which `mount` does not hold yet.
        var isMounting = false
        /// Depends on how it was started: whether it outlives its mount.
        var servesUnmounted: Bool
        /// No new mount is accepted then: it would be unmounted immediately.
        var isEnding = false
        /// In force: those of `domain.json`, of the start and of later mounts.
        var options: StoredDomainOptions
    }
    let location: DomainLocation
    let domain: Domain
    let log: Logger
    private let store: LazyStore
    private let state: Locked<State>
    private let end = Latch()

    /// Opens the domain. Syncing begins when the domain is started.
    init(_ location: DomainLocation, _ options: MountOptions, store: LazyStore, log: Logger) throws {
        self.location = location
        self.log = log
        self.store = store
        let recorded = try StoredDomainOptions(texts: location.record.options + options.domain.texts)
        state = Locked(State(mount: nil, servesUnmounted: true, options: recorded))
        var domainOptions = ReplicaModel.DomainOptions()
        domainOptions.cacheLimit = recorded.cacheMax.map { Int64(clamping: $0) }
        domainOptions.minimumFree = recorded.cacheMinFree.map { Int64(clamping: $0) }
        domainOptions.enforcesCapabilities = recorded.enforcesCapabilities
        domainOptions.trustsSetID = recorded.trustsSetID
        domain = try DaemonHandover.whenFree(location) {
            try Domain.open(StateFolders(root: location.state), store: store, options: domainOptions, log: log)
        }
    }

    /// Where the domain is mounted; nil also if a detached mount is still in use.
    var mountpoint: FilePath? {
        guard let mount = state.withLock({ $0.mount }), mount.isMounted else { return nil }
        return mount.path
    }

    /// Why the store can't be used now, if a reason is known.
    var storeTrouble: String? { store.trouble }

    /// A detached mount that is still in use.
    var heldMount: HeldMount? { state.withLock { $0.mount }?.held }

    /// Mounts the domain; the mount is live when this returns.
    /// - Parameter isOnlyReason: Whether the daemon exits with this mount.
    /// - Throws: `notRunning` if the daemon is stopping: another one has to do it. `busy` if another mount is being made.
    func mount(at path: FilePath, _ options: MountOptions, isOnlyReason: Bool) throws {
        // umount(8) returns before we have learned of it; programs that still use the detached mount delay nothing.
        if let last = state.withLock({ $0.mount }), !last.isMounted { last.waitForEnd() }
        try state.withLock { state in
            guard !state.isEnding else { throw ControlFailure(.notRunning, "the daemon is stopping") }
            guard !state.isMounting else { throw beingMounted }
            state.isMounting = true
        }
        defer { state.withLock { $0.isMounting = false } }
        guard mountpoint == nil else {
            throw ControlFailure(.busy, "\(location.name) is already mounted on \(mountpoint.map(\.string) ?? "")")
        }
        try refuseOwnPlaces(path)
        let wanted = try state.withLock { try self.wanted(options.domain, in: $0, isMounted: false) }
        let mount = try LiveMount(domain, of: location, at: path, options, noHydrate: wanted.noHydrate)
        state.withLock { state in
            state.mount = mount
            if isOnlyReason { state.servesUnmounted = false }
        }
        do throws(ControlFailure) {
            try mount.run { [self] in
                let ends = state.withLock { state in
                    state.mount = nil
                    if !state.servesUnmounted { state.isEnding = true }
                    return state.isEnding
                }
                if ends { end.open() }
            }
        } catch {
            state.withLock { $0.mount = nil }
            throw error
        }
        state.withLock { $0.options = wanted }
        limitCache(by: wanted)
    }

    private var beingMounted: ControlFailure { ControlFailure(.busy, "\(location.name) is being mounted: try again") }

    /// Changes the options of the domain while it is mounted there.
    /// - Throws: `busy` for an option that can't change now; then none has changed.
    func remount(at path: FilePath, _ options: StoredDomainOptions) throws {
        guard mountpoint == path else {
            throw ControlFailure(.mountFailed, "\(location.name) is not mounted on \(path)")
        }
        // In one step: of two remounts at once, neither undoes the other.
        let wanted = try state.withLock { state in
            state.options = try self.wanted(options, in: state, isMounted: true)
            return state.options
        }
        limitCache(by: wanted)
    }

    /// The options with these in addition to those in force.
    private func wanted(_ options: StoredDomainOptions, in state: State, isMounted: Bool) throws -> StoredDomainOptions
    {
        // Each mount has its own list of programs that don't hydrate.
        let present = isMounted ? state.options.texts : state.options.texts.filter { !$0.hasPrefix("nohydrate") }
        let wanted = try StoredDomainOptions(texts: location.record.options + present + options.texts)
        try OptionChange(from: state.options, to: wanted, isMounted: isMounted).refuse(domain: location.name)
        return wanted
    }

    private func limitCache(by wanted: StoredDomainOptions) {
        domain.limitCache(
            most: wanted.cacheMax.map { Int64(clamping: $0) },
            leastFree: wanted.cacheMinFree.map { Int64(clamping: $0) })
    }

    /// Throws `mountFailed` if the mount would hide the domain's own files, or be among them: the daemon would deadlock
    /// with itself.
    private func refuseOwnPlaces(_ path: FilePath) throws {
        // A mountpoint in use is refused with a message of its own; on systemd's automount, no other process gets an
        // answer.
        guard try Mountpoint.top(at: path) == nil else { return }
        let places = NewDomainPlaces(
            store: try StoreFactory.directory(of: StoreURL(location.record.store)).map(DiskPlace.init(of:)),
            state: try DiskPlace(of: location.state), mountpoint: try Mountpoint.place(of: path))
        if let refusal = places.refusalOfMountpoint { throw refusal }
    }

    /// Unmounts.
    /// - Throws: `busy` with the users of the mount, or while it is being made, unless `isLazy`.
    func unmount(isLazy: Bool = false) throws(ControlFailure) {
        let (found, isMounting) = state.withLock { ($0.mount, $0.isMounting) }
        guard let mount = found else {
            if isMounting, !isLazy { throw beingMounted }
            return
        }
        do throws(Errno) { try mount.unmount(isLazy: isLazy) } catch {
            throw error == .resourceBusy ? ControlFailure(.busy, mount.whyBusy) : ControlFailure(error)
        }
    }

    /// Asks the daemon to stop; the thread that runs it then stops the rest.
    func finish() {
        state.withLock { $0.isEnding = true }
        end.open()
    }

    /// Waits for the end, then stops everything in order. Blocks.
    func runUntilEnd(stopServing: () -> Void) {
        end.wait()
        endMountOrReport()
        stopServing()
        // A request that was in progress may have mounted it meanwhile.
        endMountOrReport()
        close()
    }

    private func endMountOrReport() {
        do { try endMount() } catch {
            log.error("the mount could not be removed", metadata: ["error": "\(error.message)"])
            state.withLock { $0.mount }?.waitForEnd()
        }
    }

    /// Unmounts and waits until the mount is gone.
    func endMount() throws(ControlFailure) {
        try unmount(isLazy: true)
        state.withLock { $0.mount }?.waitForEnd()
    }

    /// Stops and closes the domain. Blocks.
    func close() {
        waited { [domain, store, log] in
            do {
                try await domain.stop()
            } catch {
                log.error("some changes could not be recorded", metadata: ["error": "\(error)"])
            }
            await store.close()
        }
    }
}
