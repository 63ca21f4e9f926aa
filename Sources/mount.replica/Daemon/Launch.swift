import CLinux
import FuseMount
import Glibc
import Logging
import ReplicaControl
import ReplicaModel
import SystemPackage

/// Carries a plan out in this process, which then is the domain's daemon.
enum Launch {
    /// Serves until the end; says over `background` when it is ready, or why it is not.
    static func run(_ plan: DaemonPlan, _ background: Background) -> Never {
        TerminationSignals.block()
        Faults.endProcessAtOnce()
        umask(0)
        raiseDescriptorLimit()
        limitHeaps()
        var logger = Logger(label: "replica") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = plan.isVerbose ? .debug : .warning
        let creation = DomainCreation()
        do {
            if case .remove(let keep) = plan.task { try remove(plan, keep, background) }
            let note = WiderStore.note(plan)
            let (daemon, server) = try bringUp(plan, creation, logger)
            if let note { StandardError.say(note) }
            TerminationSignals.handle { _ in daemon.finish() }
            background.isReady(
                .daemon(
                    DaemonStatus(
                        name: daemon.location.name.text, pid: getpid(),
                        mountpoint: daemon.mountpoint.map(ControlFilePath.init))),
                log: daemon.location.state.appending("daemon.log"))
            daemon.runUntilEnd { server.stop() }
            exit(0)
        } catch {
            background.failed(creation.takenBack(after: error))
        }
    }

    /// Makes the domain where it is new, opens, serves and mounts it, and begins to exchange changes: last, for what was
    /// exchanged can't be taken back.
    static func bringUp(_ plan: DaemonPlan, _ creation: DomainCreation, _ log: Logger) throws -> (Daemon, ControlServer)
    {
        if case .mount(let path) = plan.task { try Mountpoint.refuseOccupied(path) }
        let (location, store) = try prepare(plan, creation, log)
        let daemon = try creation.run(.openDomain) {
            try Daemon(location, plan.options, store: store, log: log)
        } undo: {
            $0.close()
        }
        let server = try creation.run(.listen) {
            try ControlServer(state: location.state, service: ControlService(daemon))
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

    /// Takes a domain away that nobody serves, and ends.
    private static func remove(_ plan: DaemonPlan, _ keep: RemovalMode, _ background: Background) throws -> Never {
        guard case .existing(let location) = plan.selection else {
            throw ControlFailure(.noSuchDomain, "there is no such domain")
        }
        try MountsBelow.refuse(location.state)
        let folders = StateFolders(root: location.state)
        let removal = try DaemonHandover.whenFree(location) {
            try folders.remove(keep: RemovalKeep(keep), name: location.name.text)
        }
        Daemon.removeLinks(to: location.name)
        background.isReady(
            .removed(
                RemovalResult(preserved: removal.preserved.map(ControlFilePath.init), files: removal.files)), log: nil)
        exit(0)
    }

    /// Finds or makes the domain.
    private static func prepare(_ plan: DaemonPlan, _ creation: DomainCreation, _ log: Logger) throws -> (
        DomainLocation, any RemoteStore
    ) {
        switch plan.selection {
        case .existing(let location):
            return (location, try reopen(location, log))
        case .new(let name, let store, let root):
            var (directory, mountpoint) = (plan.options.importDirectory, FilePath?.none)
            if case .importDirectory(let path) = plan.task { directory = path }
            if case .mount(let path) = plan.task { mountpoint = path }
            let (location, store) = try NewDomain(
                name: name, storeURL: store, options: plan.options, directory: directory, mountpoint: mountpoint,
                directories: plan.directories, root: root
            ).make(creation)
            StoreFactory.remember(store.properties, state: location.state, log)
            // As at every later start: with what the domain's state keeps for it.
            return (location, try reopen(location, log))
        }
    }

    private static func reopen(_ location: DomainLocation, _ log: Logger) throws -> any RemoteStore {
        StoreFactory.reopen(try StoreURL(location.record.store), state: location.state, log)
    }

    /// glibc gives each thread a heap of its own, up to eight for a processor, and what is free in one is of no use to
    /// another. Few of our threads work at a time. What is free at a heap's end is not given back at once: a little more
    /// is soon wanted, and each page given back is one to be zeroed again.
    private static func limitHeaps() {
        _ = cl_malloc_option(CL_M_ARENA_MAX, 2)
        _ = cl_malloc_option(CL_M_TRIM_THRESHOLD, 1 << 20)
    }

    /// As many open files as the system lets us have: an unprivileged mount needs one for each that is open in it.
    private static func raiseDescriptorLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
