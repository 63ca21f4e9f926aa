import ArgumentParser
import Glibc
import ReplicaControl

/// The status of a domain, with or without a daemon.
enum DomainReport {
    /// Queries the daemon; without one the domain is `stopped` and has no counts.
    /// - Throws: `timedOut` if it does not answer.
    static func status(of domain: DomainLocation) throws -> DomainStatus {
        let answer = try DaemonProbe.ask(domain, .status, seconds: DaemonProbe.statusSeconds)
        if case .domain(let status)? = answer { return status }
        var status = DomainStatus(
            name: domain.name.text, store: domain.record.store, directory: ControlFilePath(domain.state),
            state: .stopped)
        if BegunRemoval.isLeft(in: domain) {
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

/// `replica status`.
struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show a domain's counts and progress, or an item's state, version and last error.")

    @Argument(help: "A domain, a path in a mount, or NAME:PATH; without one, every domain.", completion: .target)
    var target: String?
    @Flag(help: "Repeat every second until interrupted.")
    var watch = false
    @Flag(help: "Exit with status 8 (needsAttention) if there are errors or conflicts, or if the store is unreachable.")
    var check = false
    @OptionGroup var output: OutputOptions

    func run() throws {
        var needsAttention = try show()
        while watch {
            sleep(1)
            needsAttention = try show()
        }
        if check, needsAttention { throw ExitReason.needsAttention }
    }

    /// Prints it once; returns whether something is wrong.
    private func show() throws -> Bool {
        guard let target else { return try show(Domains().all()) }
        let (found, isDomain) = try Target.domainOrItem(target)
        if isDomain { return try show([found.domain]) }
        let client = try DaemonConnection.connectOrStart(found.domain)
        guard case .item(let item) = try client.request(.item(path: found.path)) else {
            throw ControlFailure(.wrongProtocol, "the daemon's answer isn't an item")
        }
        try output.show(item, StatusText.lines(item))
        return item.error != nil
    }

    private func show(_ domains: [DomainLocation]) throws -> Bool {
        var needsAttention = false
        var failed: ControlFailure?
        for (domain, answer) in zip(domains, DomainReport.statuses(of: domains)) {
            switch answer {
            case .success(let status):
                try output.show(status, StatusText.lines(status))
                needsAttention = needsAttention || status.needsAttention
            case .failure(let error):
                let failure = error as? ControlFailure ?? ControlFailure(.failed, "\(error)")
                if domains.count == 1 { throw ControlFailure(failure.code, "\(domain.name): \(failure.message)") }
                Output.complain("\(domain.name): \(failure.message)")
                failed = failure
            }
        }
        if let failed { throw failed.code }
        return needsAttention
    }
}

/// `replica watch`.
struct Watch: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Print the events of a domain until interrupted.")
    @OptionGroup var domain: DomainArgument
    @OptionGroup var output: OutputOptions

    func run() throws {
        _ = try domain.request(.watch, onEvent: output.event)
    }
}

/// `replica wait`: waitForStabilization.
struct Wait: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Wait until all local changes are uploaded and all changes in the store are applied.")

    @Argument(help: "The domain, or an item to wait for everything below it.", completion: .target)
    var target: String
    @Option(help: "Timeout in seconds; exits with status 7 (timedOut).")
    var timeout: Double?
    @OptionGroup var output: OutputOptions

    func run() throws {
        let (target, _) = try Target.domainOrItem(target)
        let client = try DaemonConnection.connectOrStart(target.domain)
        _ = try client.request(.wait(path: target.path), timeout: timeout, onEvent: output.event)
        try output.done("\(self.target) is stable")
    }
}
