import ArgumentParser
import ReplicaControl

/// `replica conflicts`.
struct Conflicts: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List unresolved conflicts.")
    @OptionGroup var domain: DomainArgument
    @OptionGroup var output: OutputOptions

    func run() throws {
        try output.list(domain, .conflicts)
    }
}
