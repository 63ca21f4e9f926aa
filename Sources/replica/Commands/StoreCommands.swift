import ArgumentParser
import Glibc
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
        let search = StoreSearch.own
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

/// `replica test-store`.
struct TestStore: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test-store",
        abstract: "Test a store against all promises that a domain relies on, and print each result.")

    @Argument(help: "The store's URL. Everything created there is removed afterwards.")
    var url: String
    @Option(help: "A file with the store's secrets, readable by its owner only.", completion: .path)
    var credentials: String?
    @Option(help: "Only promises whose names contain this text.")
    var only = ""

    func run() throws {
        let store: StoreURL
        do { store = try StoreURL(url) } catch { throw ControlFailure(.badStore, "\(error)") }
        var words = [Array("--test-store".utf8), Array(store.text.utf8), RawArguments.bytes(only)]
        if let credentials {
            let path = try AbsolutePath.ofEntry(RawArguments.bytes(credentials))
            words += [Array("-o".utf8), Array("credentials=".utf8) + OptionList.escaped(path)]
        }
        try MountProgram.passOn(words)
    }
}

/// `replica probe`.
struct Probe: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Test what a store can do and keep, and whether that matches what it declares.",
        discussion: """
            If the store declares that only one of two concurrent clients wins, two clients create, replace and rename \
            the same file to verify it. The files created for the tests are removed afterwards. The exit status is 0 if \
            the store does everything that it declares.
            """)

    @Argument(help: "The store's URL.")
    var url: String
    @Option(help: "A file with the store's secrets, readable by its owner only.", completion: .path)
    var credentials: String?
    @OptionGroup var output: OutputOptions

    func run() throws {
        let store: StoreURL
        do { store = try StoreURL(url) } catch { throw ControlFailure(.badStore, "\(error)") }
        var words = [Array("--probe".utf8), Array(store.text.utf8), Array((output.json ? "json" : "table").utf8)]
        if let credentials {
            let path = try AbsolutePath.ofEntry(RawArguments.bytes(credentials))
            words += [Array("-o".utf8), Array("credentials=".utf8) + OptionList.escaped(path)]
        }
        try MountProgram.passOn(words)
    }
}
