import ArgumentParser
import ReplicaControl

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
