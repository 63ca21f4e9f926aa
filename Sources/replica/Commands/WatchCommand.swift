import ArgumentParser
import ReplicaControl

/// `replica watch`.
struct Watch: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Print the events of a domain until interrupted.")
    @OptionGroup var domain: DomainArgument
    @OptionGroup var output: OutputOptions

    func run() throws {
        _ = try domain.request(.watch, onEvent: output.event)
    }
}
