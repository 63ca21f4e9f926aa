import ArgumentParser
import ReplicaControl

/// `replica list`: NSFileProviderManager.getDomains.
struct List: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List the domains: name, state, store, mountpoint.")

    @OptionGroup var output: OutputOptions

    func run() throws {
        var failed: ControlFailure?
        let domains = try Domains().all()
        for (domain, answer) in zip(domains, StatusQuery.statuses(of: domains)) {
            // A daemon that is stuck must not hide the other domains.
            switch answer {
            case .success(let status):
                try output.show(status, [StatusText.line(status)])
                if status.state == .stopped, status.reason != nil {
                    Output.complain("\(domain.name): \(status.reason ?? "")")
                }
            case .failure(let error):
                Output.complain("\(domain.name): \(ControlFailure.words(error))")
                failed = error as? ControlFailure ?? ControlFailure(.failed, "\(error)")
            }
        }
        if let failed { throw failed.code }
    }
}
