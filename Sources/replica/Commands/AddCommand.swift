import ArgumentParser
import ReplicaControl

/// `replica add`: NSFileProviderManager.add.
struct Add: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Create a domain for an existing store.")

    @Argument(help: "The new domain's name.")
    var name: String
    @OptionGroup var domain: NewDomainOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let name = try NewName.check(name)
        let words = ["--add", name.text].map { Array($0.utf8) }
        let answer = try MountProgram.command(words + domain.arguments())
        try output.show(answer, ["\(name) is added; mount it with 'replica mount \(name) DIR'"])
    }
}
