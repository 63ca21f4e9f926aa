import ArgumentParser
import ReplicaControl

/// `replica path`: getUserVisibleURL(for:).
struct Path: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the path of the item with this ID; 'replica status PATH' prints an item's ID.",
        discussion: "Prints a path in the mount, or NAME:PATH if the domain is not mounted. --json prints the item.")

    @Argument(help: "The domain.", completion: .domain)
    var name: String
    @Argument(help: "The item's ID.")
    var id: String
    @OptionGroup var output: OutputOptions

    func run() throws {
        let client = try DaemonConnection.connectOrStart(Domains().named(name))
        guard case .item(let item) = try client.request(.find(id: id)),
            case .daemon(let daemon) = try client.request(.hello)
        else { throw ControlFailure(.wrongProtocol, "the daemon's answer isn't an item") }
        if output.json { return try Output.json(item) }
        Output.path(Target.words(for: item.path, name: name, mountpoint: daemon.mountpoint))
    }
}
