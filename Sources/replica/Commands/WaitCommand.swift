import ArgumentParser
import ReplicaControl

/// `replica wait`: waitForStabilization.
struct Wait: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Wait until all local changes are uploaded and all changes in the store are applied.")

    @Argument(help: "The domain, or an item to wait for everything below it.", completion: .target)
    var target: String
    @Option(help: "Timeout in seconds; exits with status 7 (timedOut).")
    var timeout: Double?
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (0...1e9).contains(timeout ?? 0) else {
            throw ValidationError("--timeout takes a number of seconds between 0 and 1000000000")
        }
    }

    func run() throws {
        let (target, _) = try Target.domainOrItem(target)
        let client = try DaemonConnection.connectOrStart(target.domain)
        _ = try client.request(.wait(path: target.path), timeout: timeout, onEvent: output.event)
        try output.done("\(self.target) is stable")
    }
}
