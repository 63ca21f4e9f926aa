import FoundationEssentials
import Glibc
import ReplicaControl

/// `replica mount --at-login`, `--at-boot` and their opposites (docs/decisions/systemd.md).
struct MountAtLogin {
    let domain: DomainLocation
    let path: [UInt8]
    let options: [String]

    /// Enables the automatic mount and mounts the domain now: by its unit, or by a daemon of its own if this user's
    /// systemd is not running.
    func mount(_ scope: UnitScope, _ output: OutputOptions) throws {
        try scope.check()
        let environment = ProcessInfo.processInfo.environment
        let automatic = try AutomaticMount(scope, domain: domain.name.text, environment: environment)
        var mounted = try DaemonProbe.hello(domain)?.mountpoint
        if let mounted, mounted.bytes != path { throw Mount.busy(domain, mounted) }
        let wasMounted = mounted != nil
        // Checks that it can be mounted again before it is unmounted: `-f` only looks at the options.
        if wasMounted {
            try MountProgram.mount(
                [Array(domain.name.text.utf8), path, Array("-f".utf8)]
                    + options.flatMap { [Array("-o".utf8), RawArguments.bytes($0)] })
        }
        let takeBack = try automatic.write(text(environment))
        let runs = automatic.control.reload()
        // Only a daemon of its own is restarted by systemd after a crash.
        var isHeld = false
        if mounted != nil, runs, !automatic.control.isActive(automatic.unit) {
            isHeld = try !isGivenUp()
            if !isHeld { mounted = nil }
        }
        var daemon = try DaemonProbe.hello(domain)
        if mounted == nil {
            do {
                daemon = try runs ? start(automatic) : Mount.mount(domain, path, options)
            } catch {
                takeBack()
                _ = automatic.control.reload()
                // Restores the former mount as far as possible; the failure is reported already.
                if wasMounted { _ = try? Mount.mount(domain, path, options) }
                throw error
            }
        }
        let place = Format.path(path)
        let held = isHeld ? "; it is in use, so systemd takes it over only then" : ""
        let line = "\(domain.name) is mounted on \(place), and will be \(scope.moment)\(held)"
        guard let daemon else { return try output.done(line) }
        try output.show(ControlAnswer.daemon(daemon), [line])
    }

    /// Unmounts it and ends its daemon, so that systemd starts another one.
    /// - Returns: False if the mount is in use.
    private func isGivenUp() throws -> Bool {
        guard let client = try ControlClient.ifRunning(state: domain.state) else { return true }
        do { _ = try client.request(.unmount(flush: false)) } catch let failure as ControlFailure {
            if failure.code == .notRunning { return true }
            return try DaemonProbe.hello(domain)?.mountpoint == nil
        }
        return true
    }

    private func start(_ automatic: AutomaticMount) throws -> DaemonStatus {
        let complaint = automatic.control.start(automatic.unit)
        // A start that failed is sometimes reported as done by a systemd that restarts the unit.
        guard complaint == nil, let daemon = try DaemonProbe.hello(domain), let mountpoint = daemon.mountpoint else {
            let hint =
                "'systemctl \(automatic.scope.word) status \(ShellWord.quoted(Array(automatic.unit.utf8)))' says why"
            throw ControlFailure(
                .mountFailed,
                "systemd could not mount it, so nothing was changed; \(hint): \(complaint ?? "the unit ended")")
        }
        guard mountpoint.bytes == path else {
            throw ControlFailure(.mountFailed, "systemd started another unit than the one written; nothing was changed")
        }
        return daemon
    }

    private func text(_ environment: [String: String]) throws -> String {
        let data = environment["XDG_DATA_HOME"].map { ["XDG_DATA_HOME": $0] } ?? [:]
        let unit = UnitText(
            program: Array(try MountProgram.find().utf8), domain: domain.name.text, directory: path,
            options: options.map(RawArguments.bytes), environment: data)
        guard let text = unit.text else {
            throw ControlFailure(.usage, "a unit of systemd can only hold paths and options that are UTF-8")
        }
        return text
    }

    /// Disables the automatic mount of a domain, which may have been removed already.
    static func forget(_ name: String, _ scope: UnitScope, _ output: OutputOptions) throws {
        do { _ = try DomainName(name) } catch { throw ControlFailure(.usage, "\(error)") }
        let environment = ProcessInfo.processInfo.environment
        guard try AutomaticMount(scope, domain: name, environment: environment).remove() else {
            throw ControlFailure(.refused, "\(name) is not mounted \(scope.moment)")
        }
        try output.done("\(name) is no longer mounted \(scope.moment)")
    }

    /// Disables it after the domain was removed: the unit would fail at each login.
    /// - Returns: When it would have been mounted; nil if it was not enabled, or can't be disabled, which is reported.
    static func forget(_ domain: DomainLocation) -> String? {
        let scope: UnitScope = geteuid() == 0 ? .system : .user
        do {
            let environment = ProcessInfo.processInfo.environment
            let automatic = try AutomaticMount(scope, domain: domain.name.text, environment: environment)
            return try automatic.remove() ? scope.moment : nil
        } catch { return nil }
    }
}
