import ReplicaControl

/// The status of a domain, with or without a daemon.
enum StatusQuery {
    /// Queries the daemon; without one the domain is `stopped` and has no counts.
    /// - Throws: `timedOut` if it does not answer.
    static func status(of domain: DomainLocation) throws -> DomainStatus {
        let answer = try DaemonProbe.ask(domain, .status, seconds: DaemonProbe.statusSeconds)
        if case .domain(let status)? = answer { return status }
        var status = DomainStatus(
            name: domain.name.text, store: domain.record.store, directory: ControlFilePath(domain.state),
            state: .stopped)
        if InterruptedRemoval.isLeft(in: domain) {
            let mend = "replica remove \(ShellWord.quoted(Array(domain.name.text.utf8)))"
            status.reason = "its removal is not finished: '\(mend)' continues it"
        } else if let place = DeadMount.place(of: domain) {
            status.deadMount = place
            let mend = DeadMount.mend(domain.name.text, place)
            status.reason = "its daemon is gone and left a dead mount: '\(mend)' mounts it again"
        }
        return status
    }

    /// The same for several at once. Daemons that do not respond quickly are skipped, unless there is only one.
    static func statuses(of domains: [DomainLocation]) -> [Result<DomainStatus, any Error>] {
        if domains.count == 1 { return domains.map { domain in Result { try status(of: domain) } } }
        let hellos = DaemonSurvey.ask(domains, seconds: DaemonProbe.helloSeconds + 1) {
            _ = try DaemonProbe.ask($0, .hello, seconds: DaemonProbe.helloSeconds)
        }
        let answering = zip(domains, hellos).filter { if case .success = $1 { true } else { false } }.map(\.0)
        var statuses = DaemonSurvey.ask(answering, seconds: DaemonProbe.statusSeconds + 1) { try status(of: $0) }[...]
        return hellos.map { hello in
            switch hello {
            case .success: statuses.popFirst() ?? .failure(ControlFailure(.timedOut, DaemonProbe.silence))
            case .failure(let error): .failure(error)
            }
        }
    }
}
