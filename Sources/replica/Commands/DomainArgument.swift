import ArgumentParser
import ReplicaControl

/// The domain argument, optional if there is only one domain.
struct DomainArgument: ParsableArguments {
    @Argument(help: "The domain; optional if there is only one.", completion: .domain)
    var name: String?

    /// The domain.
    func find() throws -> DomainLocation { try Domains().namedOrOnly(name) }

    /// Sends a request to the domain's daemon, which is started if necessary.
    func request(_ request: ControlRequest, onEvent: (ControlEvent) throws -> Void = { _ in }) throws -> ControlAnswer {
        try DaemonConnection.connectOrStart(find()).request(request, onEvent: onEvent)
    }
}
