import ArgumentParser
import ReplicaControl

/// `replica connect`: reconnect.
struct Connect: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "End a disconnection.")
    @OptionGroup var domain: DomainArgument
    @OptionGroup var output: OutputOptions

    func run() throws {
        _ = try domain.request(.connect)
        try output.done("connected")
    }
}
