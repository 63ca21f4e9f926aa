import ReplicaControl

/// Connections to daemons.
enum Daemon {
    /// A connection to the domain's daemon, which is started without a mount where none runs.
    static func connectOrStart(_ domain: DomainLocation) throws -> ControlClient {
        if let client = try ControlClient.ifRunning(state: domain.state) { return client }
        _ = try MountProgram.command(["--serve", domain.name.text].map { Array($0.utf8) })
        return try ControlClient(state: domain.state)
    }
}

/// Asks who is there, for lists and for finding the domain of a path.
enum DaemonProbe {
    /// Seconds until a daemon that doesn't answer counts as stuck.
    private static let patience = 60.0

    /// The daemon of the domain, or nil where none answers; one that is stuck must not hide the other domains.
    static func hello(_ domain: DomainLocation) -> DaemonStatus? {
        do {
            guard let client = try ControlClient.ifRunning(state: domain.state) else { return nil }
            guard case .daemon(let status) = try client.request(.hello, timeout: patience) else { return nil }
            return status
        } catch let failure as ControlFailure where failure.code == .notRunning {
            return nil  // It ended while it was asked.
        } catch {
            Output.complain("\(domain.name): \(error)")
            return nil
        }
    }
}
