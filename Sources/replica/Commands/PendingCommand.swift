import ArgumentParser
import ReplicaControl

/// `replica pending`: enumeratorForPendingItems.
struct Pending: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the items that are not uploaded yet.", discussion: SinceOption.explanation)
    @OptionGroup var domain: DomainArgument
    @OptionGroup var changes: SinceOption
    @OptionGroup var output: OutputOptions

    func run() throws {
        try output.list(domain, .pending(since: changes.since))
    }
}
