import ArgumentParser
import Glibc
import ReplicaControl

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
        for (domain, answer) in zip(domains, StatusQuery.statuses(of: domains)) {
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
