import ArgumentParser
import ReplicaControl

/// `replica resend`: requestModification(of:forItemWithIdentifier:options:), statement 41.
struct Resend: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Upload an item again although it has not changed.",
        discussion: """
            Fields are contents, filename, parent, lastUsedDate, tags, favoriteRank, modificationDate, mode and \
            extendedAttributes.
            """)
    @OptionGroup var items: ItemArguments
    @Option(
        help: "Only these fields, separated by commas.", transform: { $0.split(separator: ",").map(String.init) })
    var fields: [String]?
    @OptionGroup var output: OutputOptions

    func run() throws {
        try items.each { item in
            _ = try item.request { .resend(path: $0, fields: fields) }
            try output.done("\(item.path) is being uploaded again")
        }
    }
}
