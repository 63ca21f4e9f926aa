import ArgumentParser
import ReplicaControl
import SystemPackage

/// `replica stores` and `replica help stores`.
struct Stores: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the kinds of stores: built in, and programs that were found.")

    /// A kind of store.
    struct Kind: Encodable {
        let url: String
        /// Nil for what is built in.
        let program: String?

        /// The built-in stores, with a description of each.
        static let own = [
            (Kind(url: "file://", program: nil), "a directory"),
            (Kind(url: "sftp://", program: nil), "[USER@]HOST[:PORT]/PATH, a directory on a server that ssh reaches"),
        ]
    }

    @OptionGroup var output: OutputOptions

    func run() throws {
        let search = StoreProgramSearch.own
        let found = search.installed().map { program in
            (Kind(url: StoreURL.beginning(of: program.scheme), program: program.path.string), program.path.string)
        }
        for (kind, words) in Kind.own.map({ ($0.0, "\($0.1), built in") }) + found {
            let name = kind.url + String(repeating: " ", count: max(0, 16 - kind.url.count))
            try output.show(kind, ["\(name) \(words)"])
        }
        if !output.json { Output.line("Others are programs named replica-store-NAME in \(search.words).") }
    }
}
