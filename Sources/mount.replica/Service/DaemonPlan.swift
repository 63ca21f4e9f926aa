import Glibc
import ReplicaControl
import SystemPackage

/// What this process is to do for which domain: a command line after a look at the disk, before anything is changed.
struct DaemonPlan {
    /// What to do first. All but `remove` go on as the domain's daemon.
    enum Task: Equatable {
        /// Mount; take over `importDirectory` of the options if the domain is new.
        case mount(at: FilePath)
        /// Take over a directory: the domain is new.
        case importDirectory(FilePath)
        /// Make the domain, which is new.
        case add
        /// Serve without a mount.
        case serve
        /// Take the domain away and end.
        case remove(keep: RemovalMode)
    }

    let task: Task
    let selection: DomainSelection
    let options: MountOptions
    let isVerbose: Bool
    /// Who waits for the outcome.
    let caller: Background.Caller

    /// Makes the plan, or throws why there can't be one. `help`, `version` and `mount -f` have none: nil.
    init?(_ invocation: Invocation, in directories: [DomainDirectory]) throws(ControlFailure) {
        isVerbose = if case .mount(let request) = invocation { request.isVerbose } else { false }
        caller = if case .mount = invocation { .mount } else { .command }
        switch invocation {
        case .help, .version: return nil
        case .mount(let request) where request.isFake: return nil
        case .mount(let request):
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
        if let file = options.domain.credentials {
            do { try CredentialsFile.check(file) } catch { throw ControlFailure(.denied, error.message) }
        }
    }

    /// Lets the domain's daemon do it where one runs; nil where none does, and this process has to.
    func answerOfRunningDaemon() throws -> ControlAnswer? {
        guard case .existing(let domain) = selection, let client = try ControlClient.ifRunning(state: domain.state)
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
            return nil  // It is ending: this process follows it.
        }
    }
}

/// The directory to mount on.
enum Mountpoint {
    /// The directory's path without links, for this process will leave the working directory. A mount that a killed
    /// daemon left there ("Transport endpoint is not connected") is taken away first.
    static func prepared(_ path: FilePath) throws(ControlFailure) -> FilePath {
        var status = stat()
        var failure = look(path, &status)
        // A daemon that is just dying aborts what is asked of it; and dead mounts may lie on top of each other.
        for _ in 0..<mostDeadMounts where failure == ENOTCONN || failure == ECONNABORTED {
            if failure == ENOTCONN { try unmountDead(path) }
            failure = look(path, &status)
        }
        guard failure == 0 else {
            throw ControlFailure(.mountFailed, "\(path): \(Errno(rawValue: failure))")
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw ControlFailure(.mountFailed, "\(path): not a directory") }
        guard let resolved = realpath(path.string, nil) else {
            throw ControlFailure(.mountFailed, "\(path): \(Errno(rawValue: errno))")
        }
        defer { free(resolved) }
        return FilePath(platformString: resolved)
    }

    private static let mostDeadMounts = 100

    /// stat(2), and 0 or its errno.
    private static func look(_ path: FilePath, _ status: inout stat) -> Int32 {
        stat(path.string, &status) == 0 ? 0 : errno
    }

    private static func unmountDead(_ path: FilePath) throws(ControlFailure) {
        if umount2(path.string, Int32(MNT_DETACH)) == 0 { return }
        let words = ["/usr/bin/fusermount3", "-u", "-z", "--", path.string]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        arguments.append(nil)
        defer { for argument in arguments { free(argument) } }
        var child: pid_t = 0
        var status: Int32 = -1
        if posix_spawn(&child, words[0], nil, nil, arguments, environ) == 0 {
            while waitpid(child, &status, 0) < 0, errno == EINTR {}
        }
        if status != 0 { throw ControlFailure(.mountFailed, "\(path): a dead mount is there and can't be unmounted") }
    }
}
