import ArgumentParser
import ReplicaControl

/// `replica materialized`: enumeratorForMaterializedItems.
struct Materialized: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the items whose content is local.", discussion: SinceOption.explanation)
    @OptionGroup var domain: DomainArgument
    @OptionGroup var changes: SinceOption
    @OptionGroup var output: OutputOptions

    func run() throws {
        try output.list(domain, .materialized(since: changes.since))
    }
}
