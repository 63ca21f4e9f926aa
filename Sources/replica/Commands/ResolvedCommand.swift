import ArgumentParser
import ReplicaControl

/// `replica resolved`: signalErrorResolved.
struct Resolved: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Declare the cause of an error fixed, so that the operations waiting for that continue.")

    @Argument(
        help: "The error's code, as in 'replica status': notAuthenticated, serverUnreachable, ...",
        completion: .errorCode)
    var code: String
    @OptionGroup var domain: DomainArgument
    @OptionGroup var output: OutputOptions

    func run() throws {
        _ = try domain.request(.resolved(code: code))
        try output.done("\(code) is marked as resolved")
    }
}
