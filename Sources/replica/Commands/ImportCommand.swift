import ArgumentParser
import ReplicaControl

/// `replica import`: NSFileProviderManager.import(_:fromDirectoryAt:), CONFORMANCE.md statements 1–19.
struct Import: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Turn a directory into a domain: it is moved, whatever its size, and uploaded in the background.")

    @Argument(help: "The new domain's name.")
    var name: String
    @Argument(help: "The directory; afterwards its contents are only in the domain.", completion: .path)
    var directory: String
    @OptionGroup var domain: NewDomainOptions
    @Flag(help: "Return when everything is in the store.")
    var wait = false
    @OptionGroup var output: OutputOptions

    func run() throws {
        let name = try NewName.check(name)
        let arguments = try domain.arguments()
        let path: [UInt8]
        do { path = try AbsolutePath.ofEntry(RawArguments.bytes(directory)) } catch {
            throw ControlFailure(.cannotImport, error.message)
        }
        let answer = try MountProgram.command([Array("--import".utf8), Array(name.text.utf8), path] + arguments)
        let next = "mount it with 'replica mount \(name) DIR'"
        guard wait else {
            return try output.show(answer, ["\(name) is imported and is being uploaded; \(next)"])
        }
        try waitForStore(name)
        try output.show(answer, ["\(name) is imported and in the store; \(next)"])
    }

    private func waitForStore(_ name: DomainName) throws {
        do {
            let client = try DaemonConnection.connectOrStart(Domains().named(name.text))
            _ = try client.request(.wait(path: .root), onEvent: output.event)
        } catch let failure as ControlFailure {
            throw ControlFailure(failure.code, "\(name) is imported, but \(failure.message)")
        }
    }
}
