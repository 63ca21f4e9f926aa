import ArgumentParser
import ReplicaControl

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
