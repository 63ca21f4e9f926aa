import ArgumentParser
import ReplicaControl

/// `replica reimport`: reimportItems(below:), CONFORMANCE.md statements 27–39.
struct Reimport: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Upload an item and everything below it again, after the store lost its identifiers.")
    @OptionGroup var items: ItemArguments
    @OptionGroup var output: OutputOptions

    func run() throws {
        try items.each { item in
            _ = try item.request { .reimport(path: $0) }
            try output.done("\(item.path) is being uploaded again")
        }
    }
}
