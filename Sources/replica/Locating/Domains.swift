import FoundationEssentials
import ReplicaControl

/// The domains this user has.
struct Domains {
    let directories = DomainDirectory.searchPath(environment: ProcessInfo.processInfo.environment)

    /// All of them, sorted by name. Domains that cannot be read are reported on standard error.
    func all() throws -> [DomainLocation] {
        try directories.domains { _, error in Output.complain("\(error)") }
    }

    /// The domain of this name.
    func named(_ text: String) throws -> DomainLocation {
        let name: DomainName
        do { name = try DomainName(text) } catch { throw ControlFailure(.usage, "\(error)") }
        guard let found = try directories.domain(named: name) else {
            throw ControlFailure(.noSuchDomain, "no domain named \(name); see 'replica list'")
        }
        return found
    }

    /// The domain of this name, or the only one there is.
    func namedOrOnly(_ text: String?) throws -> DomainLocation {
        if let text { return try named(text) }
        let all = try all()
        if let only = all.first, all.count == 1 { return only }
        if all.isEmpty { throw ControlFailure(.noSuchDomain, "there is no domain yet; 'replica import' creates one") }
        throw ControlFailure(.usage, "which domain? there are \(all.map(\.name.text).joined(separator: ", "))")
    }

    /// Whether the text is the name of an existing domain.
    func has(_ text: String) throws -> Bool {
        do { return try directories.domain(named: DomainName(text)) != nil } catch is DomainNameError { return false }
    }
}
