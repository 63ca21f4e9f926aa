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
        if notAtLogin { return try MountAtLogin.forget(name, .user, output) }
        if notAtBoot { return try MountAtLogin.forget(name, .system, output) }
        guard let directory else { throw ControlFailure(.usage, "a directory is required") }
        let domain = try Domains().named(name)
        // Links are followed here alone: at the next start, another user could have changed them.
        let path = try AbsolutePath.ofDirectory(RawArguments.bytes(directory))
        if atLogin || atBoot {
            return try MountAtLogin(domain: domain, path: path, options: options).mount(
                atBoot ? .system : .user, output)
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
