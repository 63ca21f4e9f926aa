import ArgumentParser
import ReplicaControl

/// `replica approve`.
struct Approve: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Approve a held mass deletion.")
    @OptionGroup var domain: DomainArgument
    @OptionGroup var output: OutputOptions

    func run() throws {
        _ = try domain.request(.approve)
        try output.done("what was held is approved")
    }
}
