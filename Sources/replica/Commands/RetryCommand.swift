import ArgumentParser
import ReplicaControl

/// `replica retry`.
struct Retry: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Retry failed operations now.")

    @Argument(help: "The domain, or one item; optional if there is only one domain.", completion: .target)
    var target: String?
    @OptionGroup var output: OutputOptions

    func run() throws {
        var domain: DomainLocation
        var path: ControlPath?
        if let target {
            let (found, isDomain) = try Target.domainOrItem(target)
            domain = found.domain
            path = isDomain ? nil : found.path
        } else {
            domain = try Domains().namedOrOnly(nil)
        }
        _ = try DaemonConnection.connectOrStart(domain).request(.retry(path: path))
        try output.done("retrying")
    }
}
