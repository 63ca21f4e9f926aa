import ArgumentParser
import ReplicaControl

/// `replica disconnect`: disconnect(reason:options:).
struct Disconnect: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Stop using the store until 'replica connect'; local content stays usable.",
        discussion: "The disconnection persists across restarts, unless it is temporary.")
    @OptionGroup var domain: DomainArgument
    @Option(help: "The reason, shown by 'replica status'.")
    var reason: String
    @Flag(help: "Only until the daemon is restarted, for example during an update of the store.")
    var temporary = false
    @OptionGroup var output: OutputOptions

    func run() throws {
        _ = try domain.request(.disconnect(reason: reason, temporary: temporary))
        try output.done(temporary ? "disconnected until the daemon is restarted" : "disconnected")
    }
}
