import ArgumentParser
import ReplicaControl

/// `replica remove`: NSFileProviderManager.remove(_:mode:) and removeAllDomains.
struct Remove: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove a domain. The store is not changed.",
        discussion: "By default, changes that are not uploaded yet are preserved in a folder whose path is printed.")

    @Argument(help: "The domain.", completion: .domain)
    var name: String?
    @Flag(help: "Remove every domain after asking for confirmation; without a terminal, --yes is required.")
    var all = false
    @Flag(help: "With --all, do not ask for confirmation.")
    var yes = false
    @Option(help: "What to preserve on disk: dirty, downloaded or none.")
    var keep = RemovalMode.dirty
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (name != nil) != all else { throw ValidationError("give a domain's name or --all") }
    }

    func run() throws {
        let domains = try name.map { [try Domains().named($0)] } ?? Domains().all()
        if all, !yes { try RemovalQuestion(domains: domains.map(\.name.text), keep: keep).ask() }
        var failed: ControlFailure?
        for domain in domains {
            do { try remove(domain) } catch let error as ControlFailure {
                if domains.count == 1 { throw error }
                let name = "\(domain.name): "
                Output.complain(error.message.hasPrefix(name) ? error.message : name + error.message)
                failed = error
            }
        }
        if let failed { throw failed.code }
    }

    private func remove(_ domain: DomainLocation) throws {
        let answer: ControlAnswer
        if let client = try DaemonConnection.ifRunning(domain) {
            answer = try client.request(.remove(keep: keep))
        } else {
            answer = try MountProgram.command(["--remove", domain.name.text, keep.rawValue].map { Array($0.utf8) })
        }
        var line = "\(domain.name) is removed"
        if case .removed(let result) = answer, let place = result.preserved {
            line += "; \(Format.count(result.files, "file")) preserved in \(Format.path(place.bytes))"
        }
        if let moment = MountAtLogin.forget(domain) { line += "; it is no longer mounted \(moment)" }
        try output.show(answer, [line])
    }
}

extension RemovalMode: ExpressibleByArgument {}
