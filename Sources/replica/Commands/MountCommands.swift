import ArgumentParser
import ReplicaControl

/// `replica mount`: the same as `mount -t replica NAME DIR`, without mount(8).
struct Mount: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Mount a domain. Returns when the mount is live.")

    @Argument(help: "The domain.", completion: .domain)
    var name: String
    @Argument(help: "An existing directory to mount it on.", completion: .path)
    var directory: String?
    @Option(name: .customShort("o"), help: "Mount options, as in mount.replica: ro,allow_other,...")
    var options: [String] = []
    @Flag(help: "Mount it at each login too, by a unit of systemd.")
    var atLogin = false
    @Flag(help: "Mount it at each boot too; for root.")
    var atBoot = false
    @Flag(help: "No longer mount it at login. It stays mounted until then.")
    var notAtLogin = false
    @Flag(help: "No longer mount it at boot; for root.")
    var notAtBoot = false
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard [atLogin, atBoot, notAtLogin, notAtBoot].count(where: { $0 }) <= 1 else {
            throw ValidationError("only one of --at-login, --at-boot, --not-at-login and --not-at-boot")
        }
        guard (directory == nil) == (notAtLogin || notAtBoot) else {
            throw ValidationError(
                directory == nil ? "a directory is required" : "no directory with --not-at-login and --not-at-boot")
        }
    }

    func run() throws {
        if notAtLogin { return try Automatic.forget(name, .user, output) }
        if notAtBoot { return try Automatic.forget(name, .system, output) }
        guard let directory else { throw ControlFailure(.usage, "a directory is required") }
        let domain = try Domains().named(name)
        // Links are followed here alone: at the next start, another user could have changed them.
        let path = try AbsolutePath.ofDirectory(RawArguments.bytes(directory))
        if atLogin || atBoot {
            return try Automatic(domain: domain, path: path, options: options).mount(atBoot ? .system : .user, output)
        }
        if let mountpoint = try DaemonProbe.hello(domain)?.mountpoint { throw Self.busy(domain, mountpoint) }
        let daemon = try Self.mount(domain, path, options)
        try output.show(ControlAnswer.daemon(daemon), ["\(name) is mounted on \(Format.path(path))"])
    }

    static func mount(_ domain: DomainLocation, _ path: [UInt8], _ options: [String]) throws -> DaemonStatus {
        var words = [Array(domain.name.text.utf8), path]
        for option in options { words += [Array("-o".utf8), RawArguments.bytes(option)] }
        try MountProgram.mount(words)
        guard let daemon = try DaemonProbe.hello(domain) else {
            throw ControlFailure(.notRunning, "the daemon of \(domain.name) exited right after mounting")
        }
        return daemon
    }

    static func busy(_ domain: DomainLocation, _ mountpoint: ControlFilePath) -> ControlFailure {
        ControlFailure(.busy, "\(domain.name) is already mounted on \(Format.path(mountpoint.bytes))")
    }
}

/// `replica unmount`.
struct Unmount: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Unmount a domain and stop its daemon. Pending changes stay pending and are reported.")

    @Argument(help: "The domain, or the directory it is mounted on.", completion: .target)
    var target: String
    @Flag(help: "Upload pending changes first.")
    var flush = false
    @Flag(help: "Only unmount the mount of a daemon that is gone; otherwise do nothing.")
    var dead = false
    @OptionGroup var output: OutputOptions

    func run() throws {
        let domain = try (dead ? Domains().named(target) : mounted())
        if dead {
            guard try DaemonConnection.ifRunning(domain) == nil else { return }
            if try DeadMount.unmount(domain) { try output.done("the dead mount of \(domain.name) is unmounted") }
            return
        }
        guard let client = try DaemonConnection.ifRunning(domain) else {
            guard try DeadMount.unmount(domain) else {
                throw ControlFailure(.notRunning, "\(domain.name) is not mounted and has no daemon")
            }
            return try output.done("\(domain.name) is unmounted; its daemon was not running")
        }
        let pending = flush ? nil : try pendingItems(client)
        _ = try client.request(.unmount(flush: flush), onEvent: output.event)
        // Until then, it writes to the state: a copy would not be complete.
        if !StateLock.awaitFree(state: domain.state, seconds: Self.endTimeoutSeconds) {
            Output.complain("the daemon of \(domain.name) has not ended yet")
        }
        var line = "\(domain.name) is unmounted"
        if let pending, pending > 0 { line += "; \(Format.count(pending, "item")) not yet in the store" }
        try output.done(line)
    }

    private static let endTimeoutSeconds = 10.0

    /// The domain that is meant. What is inside a mount is none, as for umount(8).
    private func mounted() throws -> DomainLocation {
        let (found, _) = try Target.domainOrItem(target)
        guard found.path == .root else {
            let name = found.domain.name
            throw ControlFailure(
                .usage, "\(target) is inside the domain \(name): 'replica unmount \(name)' unmounts it")
        }
        return found.domain
    }

    /// How much is not uploaded yet; nil if unknown, which does not prevent unmounting.
    /// - Throws: `timedOut` if the daemon does not answer.
    private func pendingItems(_ client: ControlClient) throws -> Int? {
        do {
            guard case .domain(let status) = try client.request(.status) else { return nil }
            return status.pending
        } catch let failure as ControlFailure where failure.code == .timedOut {
            throw failure
        } catch {
            Output.complain("pending changes cannot be determined: \(error)")
            return nil
        }
    }
}
