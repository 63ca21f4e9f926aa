import ArgumentParser
import ReplicaControl

/// Options of the commands that create a domain.
struct NewDomainOptions: ParsableArguments {
    @Option(help: "The store's URL, as file:///srv/store; 'replica help stores' lists what there is.")
    var store: String

    @Flag(help: "Create the store's directory if it does not exist.")
    var create = false

    @Option(help: "A file with the store's secrets, readable by its owner only.", completion: .path)
    var credentials: String?

    @Option(name: .customShort("o"), help: "Options for the domain, as in mount.replica: cache-max=10G,...")
    var options: [String] = []

    /// The store, and the arguments that follow it on the helper's command line.
    func arguments() throws -> [[UInt8]] {
        let url: StoreURL
        do { url = try StoreURL(store) } catch { throw ControlFailure(.badStore, "\(error)") }
        var words = [Array(url.text.utf8)]
        if let credentials {
            let path = try AbsolutePath.ofEntry(RawArguments.bytes(credentials))
            words += [Array("-o".utf8), Array("credentials=".utf8) + OptionList.escaped(path)]
        }
        if create { words += ["-o", "create"].map { Array($0.utf8) } }
        for option in options { words += [Array("-o".utf8), RawArguments.bytes(option)] }
        return words
    }
}
