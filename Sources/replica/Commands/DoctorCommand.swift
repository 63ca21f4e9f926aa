import ArgumentParser
import Glibc
import ReplicaControl

/// `replica doctor`.
struct Doctor: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Find what makes mounts fail, slow or unsafe on this machine, and how to fix it.",
        discussion: """
            Exits with 0 if all is fine, with 8 (needsAttention) if there are warnings, with 20 (broken) if there \
            are errors. Nothing is changed.
            """)

    @Argument(help: "Only this domain, and the machine; without one, every domain.", completion: .domain)
    var name: String?
    @OptionGroup var output: OutputOptions

    func run() throws {
        let (domains, unreadable) = try name.map(DomainInspection.named) ?? DomainInspection.all()
        // The other domains are needed too: their mounts would count as belonging to no domain.
        let known = name == nil ? domains : try DomainInspection.all().domains
        var findings = MachineInspection.inspect(beside: known).findings
        let inspected = DaemonSurvey.ask(domains, seconds: Self.seconds, DomainInspection.inspect)
        for (domain, answer) in zip(domains, inspected) {
            // Only a daemon or a disk can take that long.
            let silent = [
                Finding(check: .daemon, domain: domain.name.text, severity: .error, message: DaemonProbe.silence)
            ]
            findings += (try? answer.get().findings) ?? silent
        }
        findings += unreadable.flatMap(\.findings)
        for finding in findings { try output.show(finding, [finding.line]) }
        try Self.finish(findings.map(\.severity).max() ?? .fine)
    }

    /// The timeout for all domains together: longer than any check of one domain takes.
    private static let seconds = 15.0

    private static func finish(_ worst: Finding.Severity) throws {
        switch worst {
        case .fine: return
        case .warning: throw ExitReason.needsAttention
        case .error: throw ExitReason.broken
        }
    }
}
