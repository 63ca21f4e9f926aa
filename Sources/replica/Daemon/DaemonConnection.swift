import ReplicaControl

/// Connections to daemons.
enum DaemonConnection {
    /// A connection to the domain's daemon, which is started without a mount if none is running.
    static func connectOrStart(_ domain: DomainLocation) throws -> ControlClient {
        if let client = try ifRunning(domain) { return client }
        _ = try MountProgram.command(["--serve", domain.name.text].map { Array($0.utf8) })
        return try ControlClient(state: domain.state, name: domain.name)
    }

    /// A connection to the domain's daemon, or nil if none is running. Its message about a daemon that hangs names the domain.
    static func ifRunning(_ domain: DomainLocation) throws -> ControlClient? {
        try ControlClient.ifRunning(state: domain.state, name: domain.name)
    }
}

/// Queries daemons, for lists and for finding the domain of a path.
enum DaemonProbe {
    /// Seconds until a daemon that does not answer counts as hung when several are queried.
    static let helloSeconds = 2.0
    /// Seconds for requests that require counting.
    static let statusSeconds = 30.0
    static let silence = "its daemon does not answer"

    /// The daemon of a named domain, or nil if none is running.
    /// - Throws: `timedOut` if it does not answer.
    static func hello(_ domain: DomainLocation) throws -> DaemonStatus? {
        do {
            guard case .daemon(let status)? = try DaemonConnection.ifRunning(domain)?.request(.hello) else {
                return nil
            }
            return status
        } catch let failure as ControlFailure where failure.code == .notRunning {
            return nil  // It ended during the query.
        }
    }

    /// The daemons of these domains; nil if none is running, or if it does not answer, which is reported.
    static func hellos(_ domains: [DomainLocation]) -> [DaemonStatus?] {
        let answers = DaemonSurvey.ask(domains, seconds: helloSeconds + 1) {
            try ask($0, .hello, seconds: helloSeconds)
        }
        return zip(domains, answers).map { domain, answer in
            switch answer {
            case .success(.daemon(let status)): return status
            case .success: return nil
            case .failure(let error):
                Output.complain("\(domain.name): \(ControlFailure.words(error))")
                return nil
            }
        }
    }

    /// Sends one request; nil if no daemon is running.
    /// - Throws: `timedOut` with its process ID if it does not answer in time.
    static func ask(_ domain: DomainLocation, _ request: ControlRequest, seconds: Double) throws -> ControlAnswer? {
        guard let client = try ControlClient.ifRunning(state: domain.state) else { return nil }
        do {
            return try client.request(request, timeout: seconds)
        } catch let failure as ControlFailure where failure.code == .notRunning {
            return nil  // It ended during the query.
        } catch let failure as ControlFailure where failure.code == .timedOut {
            let process = client.daemonProcess.map { " (process \($0))" } ?? ""
            throw ControlFailure(.timedOut, "its daemon\(process) does not answer")
        }
    }
}

extension ControlFailure {
    /// An error's message, for a line that starts with a name.
    static func words(_ error: any Error) -> String {
        (error as? ControlFailure)?.message ?? "\(error)"
    }
}
