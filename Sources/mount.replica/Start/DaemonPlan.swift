import Glibc
import ReplicaControl
import SystemPackage

/// What this process will do for which domain: a command line combined with the state of the disk, before anything is
/// changed.
struct DaemonPlan {
    /// What to do first. All but `remove` continue as the domain's daemon.
    enum Task: Equatable {
        /// Mount; import the option's `importDirectory` if the domain is new.
        case mount(at: FilePath)
        /// Import a directory into a new domain.
        case importDirectory(FilePath)
        /// Create the domain.
        case add
        /// Serve without a mount.
        case serve
        /// Remove the domain and exit.
        case remove(keep: RemovalMode)
    }

    let task: Task
    let selection: DomainSelection
    let options: MountOptions
    /// Where domains are.
    let directories: [DomainDirectory]
    let isVerbose: Bool
    /// The caller that waits for the result.
    let caller: BackgroundStart.Caller

    /// Makes the plan, or throws why it is impossible. Nil for `help`, `version` and `mount -f`.
    init?(_ invocation: Invocation, in directories: [DomainDirectory]) throws(ControlFailure) {
        self.directories = directories
        isVerbose = if case .mount(let request) = invocation { request.isVerbose } else { false }
        caller = if case .mount = invocation { .mount } else { .command }
        switch invocation {
        case .help, .version, .testStore, .probe: return nil
        case .mount(let request) where request.isFake: return nil
        case .mount(let request):
            try Self.checkCredentials(request.options)
            selection = try DomainSelection(request, in: directories)
            task = .mount(at: try Mountpoint.prepared(request.mountpoint))
            options = request.options
        case .importDirectory(let name, let directory, let store, let options):
            selection = try DomainSelection.new(name, store: store, in: directories)
            task = .importDirectory(directory)
            self.options = options
        case .add(let name, let store, let options):
            selection = try DomainSelection.new(name, store: store, in: directories)
            task = .add
            self.options = options
        case .serve(let name, let options):
            selection = .existing(try DomainSelection.existing(name, in: directories))
            task = .serve
            self.options = options
        case .remove(let name, let keep):
            selection = .existing(try DomainSelection.existing(name, in: directories))
            task = .remove(keep: keep)
            options = MountOptions()
        }
        try Self.checkCredentials(options)
    }

    private static func checkCredentials(_ options: MountOptions) throws(ControlFailure) {
        guard let file = options.domain.credentials else { return }
        do { try CredentialsFile.check(file) } catch { throw ControlFailure(.denied, error.message) }
    }

    /// Lets the domain's running daemon do it; nil if there is none, so this process has to.
    func answerOfRunningDaemon() throws -> ControlAnswer? {
        guard case .existing(let domain) = selection,
            let client = try ControlClient.ifRunning(state: domain.state, name: domain.name)
        else { return nil }
        do {
            switch task {
            case .mount(let mountpoint):
                return try client.request(
                    .mount(mountpoint: ControlFilePath(mountpoint), options: options.textsForDaemon))
            case .remove(let keep): return try client.request(.remove(keep: keep))
            case .serve: return try client.request(.hello)
            case .add, .importDirectory: return nil
            }
        } catch let failure as ControlFailure where failure.code == .notRunning {
            return nil  // It is stopping: this process takes over.
        }
    }

    /// Whether it mounts on an automount of systemd, which a running daemon can't pass.
    var isAutomount: Bool {
        guard case .mount(let path) = task, BackgroundStart.isOfMountUnit else { return false }
        // If that can't be determined, the mount reports it.
        return (try? Mountpoint.top(at: path))?.type == "autofs"
    }

    /// The timeout for a daemon that has to stop, in seconds.
    private static let stopTimeoutSeconds = 10.0

    /// Ends a daemon that serves the domain without a mount, so that this process, which is run by a unit, takes over.
    /// - Throws: `busy` if it has the domain mounted, `timedOut` if it does not answer.
    func takeOver() throws {
        guard task != .add, case .existing(let domain) = selection,
            let client = try ControlClient.ifRunning(state: domain.state, name: domain.name)
        else { return }
        do {
            if case .daemon(let status) = try client.request(.hello),
                let place = status.mountpoint
            {
                throw ControlFailure(.busy, "\(domain.name) is already mounted on \(place.path) by another daemon")
            }
            _ = try client.request(.unmount(flush: false), timeout: Self.stopTimeoutSeconds)
        } catch let failure as ControlFailure where failure.code == .notRunning {
            return  // It is stopping: this process takes over.
        }
    }
}
