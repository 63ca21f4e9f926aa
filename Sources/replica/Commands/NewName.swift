import ReplicaControl

/// A name for a new domain.
enum NewName {
    /// Rejects invalid and existing names before anything is changed.
    static func check(_ text: String) throws -> DomainName {
        let name: DomainName
        do { name = try DomainName(text) } catch { throw ControlFailure(.usage, "\(error)") }
        if try Domains().directories.domain(named: name) != nil {
            throw ControlFailure(.domainExists, "there is a domain named \(name) already")
        }
        return name
    }
}
