import ReplicaControl
import SystemPackage

extension Invocation {
    /// The log of the domain that a daemon in the foreground is to serve; nil in the background, and for a domain that is new or
    /// can't be read. It is known before the daemon has started, so it has the reason too why a service could not start.
    func logOfForeground(in directories: [DomainDirectory]) -> FilePath? {
        var name: DomainName?
        switch self {
        case .mount(let request) where request.options.foreground && !request.isFake:
            if case .name(let own) = request.source { name = own }
        case .serve(let own, let options) where options.foreground: name = own
        default: break
        }
        // Why a domain can't be read is reported when it is opened.
        guard let name, let domain = try? directories.domain(named: name) else { return nil }
        return domain.state.appending(StateFileName.log.rawValue)
    }
}
