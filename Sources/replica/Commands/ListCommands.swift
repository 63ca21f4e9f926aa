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

/// `replica conflicts`.
struct Conflicts: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List unresolved conflicts.")
    @OptionGroup var domain: DomainArgument
    @OptionGroup var output: OutputOptions

    func run() throws {
        try output.list(domain, .conflicts)
    }
}

/// The option of lists that can be followed.
struct SinceOption: ParsableArguments {
    @Option(help: "Only changes since this anchor; '' lists everything, with a first anchor.")
    var since: String?

    static let explanation = """
        With --since, additions are marked + and removals -, and the last line is the anchor for the next call. \
        An anchor that is too old fails with status 19 (anchorExpired): start again with ''.
        """
}

extension OutputOptions {
    /// Prints a list, in JSON one object per entry.
    fileprivate func list(_ domain: DomainArgument, _ request: ControlRequest) throws {
        let answer = try domain.request(request) { event in
            switch event {
            case .items(let items) where json: try items.forEach(Output.json)
            case .conflicts(let conflicts) where json: try conflicts.forEach(Output.json)
            case .left(let left) where json: for one in left { try Output.json(["left": one]) }
            case .items(let items) where request.since != nil:
                items.map { "+ " + StatusText.line($0) }.forEach(Output.line)
            default: try self.event(event)
            }
        }
        if case .anchor(let anchor) = answer { try show(answer, ["anchor \(anchor)"]) }
    }
}
