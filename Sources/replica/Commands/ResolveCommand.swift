import ArgumentParser
import ReplicaControl

/// `replica resolve`.
struct Resolve: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Resolve a conflict.")
    @OptionGroup var items: ItemArguments
    @Option(help: "Which version keeps the name: local, remote, or both as they are.")
    var keep: ConflictChoice
    @OptionGroup var output: OutputOptions

    func run() throws {
        try items.each { item in
            _ = try item.request { .resolve(path: $0, keep: keep) }
            try output.done("\(item.path) is resolved")
        }
    }
}

extension ConflictChoice: ExpressibleByArgument {}
