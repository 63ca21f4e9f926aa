import ArgumentParser
import ReplicaControl

/// `replica path`: getUserVisibleURL(for:).
struct Path: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print where the item is that the store calls so; 'replica status PATH' prints an item's id.",
        discussion: "It is a path in the mount, or NAME:PATH where the domain isn't mounted. --json prints the item.")

    @Argument(help: "The domain.", completion: .domain)
    var name: String
    @Argument(help: "The item's id.")
    var id: String
    @OptionGroup var output: OutputOptions

    func run() throws {
        let client = try Daemon.connectOrStart(Domains().named(name))
        guard case .item(let item) = try client.request(.find(id: id)),
            case .daemon(let daemon) = try client.request(.hello)
        else { throw ControlFailure(.wrongProtocol, "the daemon's answer isn't an item") }
        if output.json { return try Output.json(item) }
        Output.path(Target.words(for: item.path, name: name, mountpoint: daemon.mountpoint))
    }
}
