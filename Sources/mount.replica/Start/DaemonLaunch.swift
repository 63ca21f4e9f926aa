import ChildProcess
import FuseMount
import Glibc
import Logging
import ReplicaControl
import ReplicaModel
import SystemPackage

/// Carries out a plan in this process, which becomes the domain's daemon.
enum DaemonLaunch {
    /// Serves until it is stopped; reports through `background` when it is ready, or why it failed.
    static func run(_ plan: DaemonPlan, _ background: BackgroundStart, _ service: SystemdSettings) -> Never {
        TerminationSignals.block()
        CrashHandling.endProcessAtOnce()
        ProgramUmask.clear()
        ResourceLimits.raiseDescriptorLimit()
        ResourceLimits.limitHeaps()
        AmazonKeys.take()
        var logger = Logger(label: "replica", factory: StandardError.logHandler)
        logger.logLevel = plan.isVerbose ? .debug : .warning
        let creation = DomainCreation()
        do {
            if case .remove(let keep) = plan.task { try remove(plan, keep, background, logger) }
            let note = StoreAccessNote.note(plan)
            let (daemon, server) = try bringUp(plan, creation, logger)
            if let note { StandardError.say(note) }
            let life = SystemdService(service, daemon)
            TerminationSignals.handle { life.end($0) }
            background.isReady(
                .daemon(
                    DaemonStatus(
                        name: daemon.location.name.text, pid: getpid(),
                        mountpoint: daemon.mountpoint.map(ControlFilePath.init))),
                log: daemon.location.state.appending(StateFileName.log.rawValue))
            life.isReady()
            daemon.runUntilEnd { server.stop() }
            exit(0)
        } catch {
            background.failed(creation.rolledBack(after: error))
        }
    }

    /// Creates the domain if it is new, opens, serves and mounts it, and starts syncing. Syncing comes last because it
    /// cannot be undone.
    static func bringUp(_ plan: DaemonPlan, _ creation: DomainCreation, _ log: Logger) throws -> (Daemon, ControlServer)
    {
        if case .mount(let path) = plan.task { try Mountpoint.refuseOccupied(path) }
        let (location, store) = try prepare(plan, creation, log)
        // The daemon empties folders there.
        try MountsBelow.refuse(location.state)
        let daemon = try creation.run(.openDomain) {
            try Daemon(location, plan.options, store: store, log: log)
        } undo: {
            $0.close()
        }
        let server = try creation.run(.listen) {
            try ControlServer(state: location.state, service: DomainRequestHandler(daemon))
        } undo: {
            $0.stop()
        }
        if case .mount(let path) = plan.task {
            try creation.run(.mount) {
                try daemon.mount(at: path, plan.options, isOnlyReason: true)
            } undo: {
                try daemon.endMount()
            }
        }
        daemon.domain.start()
        return (daemon, server)
    }

    /// Removes a domain without a daemon, and exits.
    private static func remove(
        _ plan: DaemonPlan, _ keep: RemovalMode, _ background: BackgroundStart, _ log: Logger
    ) throws -> Never {
        guard case .existing(let location) = plan.selection else {
            preconditionFailure("only an existing domain is removed")
        }
        try MountsBelow.refuse(location.state)
        let folders = StateFolders(root: location.state)
        let name = location.name.text
        let unlist: @Sendable () -> Void = { Daemon.removeLinks(to: location) }
        let removal = try DaemonHandover.whenFree(location) {
            // Only what is kept for a store that is lost depends on the store. A begun removal continues in any case.
            if keep == .dirty, !folders.isRemovalBegun {
                return try removeAsking(try reopen(location, plan.options, log), folders, name, unlist, log)
            }
            return try folders.remove(keep: RemovalKeep(keep), name: name, unlist: unlist)
        }
        background.isReady(
            .removed(
                RemovalResult(preserved: removal.preserved.map(ControlFilePath.init), files: removal.files)), log: nil)
        exit(0)
    }

    /// The same with the store's answer to whether it still is the one that the domain began with.
    private static func removeAsking(
        _ store: LazyStore, _ folders: StateFolders, _ name: String, _ unlist: @escaping @Sendable () -> Void,
        _ log: Logger
    ) throws -> Removal {
        let domain = try Domain.open(folders, store: store, log: log)
        return try waited {
            let result: Result<Removal, any Error>
            do {
                result = .success(try await domain.remove(keep: .dirty, name: name, unlist: unlist))
            } catch { result = .failure(error) }
            await store.close()
            return result
        }.get()
    }

    /// Finds or creates the domain.
    private static func prepare(_ plan: DaemonPlan, _ creation: DomainCreation, _ log: Logger) throws -> (
        DomainLocation, LazyStore
    ) {
        switch plan.selection {
        case .existing(let location):
            return (location, try reopen(location, plan.options, log))
        case .new(let name, let store, let root):
            var (directory, mountpoint) = (plan.options.importDirectory, FilePath?.none)
            if case .importDirectory(let path) = plan.task { directory = path }
            if case .mount(let path) = plan.task { mountpoint = path }
            let (location, tried) = try NewDomain(
                name: name, storeURL: store, options: plan.options, directory: directory, mountpoint: mountpoint,
                directories: plan.directories, root: root
            ).make(creation)
            StoreFactory.remember(tried.properties, state: location.state, log)
            if let login = tried.login { DomainLogin.note(login, state: location.state) }
            // As at every later start, with the store's data in the domain's state.
            return (location, try reopen(location, plan.options, log))
        }
    }

    private static func reopen(
        _ location: DomainLocation, _ options: MountOptions, _ log: Logger
    ) throws -> LazyStore {
        let recorded = try StoredDomainOptions(texts: location.record.options + options.domain.texts)
        return StoreFactory.reopen(
            try StoreURL(location.record.store), state: location.state, credentials: recorded.credentials, log)
    }
}
