import ChildProcess
import ReplicaControl
import SystemPackage

/// The domain that a command line refers to: an existing one, or one to be created.
enum DomainSelection {
    /// It exists.
    case existing(DomainLocation)
    /// It is to be created, in this folder of domains unless `state=` gives another place.
    case new(DomainName, store: StoreURL, root: DomainDirectory)

    /// Finds the domain of a mount. If it does not exist, it is created if the store is known: from `store=URL`, or a
    /// store URL as SPEC; then the domain is named after the last part of the URL.
    init(_ request: MountRequest, in directories: [DomainDirectory]) throws(ControlFailure) {
        switch request.source {
        case .name(let name):
            if let found = try Self.find({ try directories.domain(named: name) }) {
                if let store = request.options.store, !found.record.isStored(at: store) {
                    throw ControlFailure(.domainExists, "domain \(name) has another store: \(found.record.store)")
                }
                self = .existing(found)
            } else if let store = request.options.store {
                self = .new(name, store: store, root: try Self.first(directories))
            } else {
                throw ControlFailure(.noSuchDomain, "no domain named \(name); store=URL creates one")
            }
        case .store(let store):
            if let found = try Self.find({ try directories.domain(storedAt: store) }) {
                self = .existing(found)
            } else {
                let name = try Self.find { try Self.freshName(for: store, in: directories) }
                self = .new(name, store: store, root: try Self.first(directories))
            }
        }
    }

    /// The domain with this name, which must exist.
    static func existing(_ name: DomainName, in directories: [DomainDirectory]) throws(ControlFailure) -> DomainLocation
    {
        guard let found = try find({ try directories.domain(named: name) }) else {
            throw ControlFailure(.noSuchDomain, "no domain named \(name)")
        }
        return found
    }

    /// The place for a new domain with this name, which must not exist.
    static func new(
        _ name: DomainName, store: StoreURL, in directories: [DomainDirectory]
    ) throws(ControlFailure) -> DomainSelection {
        if try find({ try directories.domain(named: name) }) != nil {
            throw ControlFailure(.domainExists, "there is a domain named \(name) already")
        }
        return .new(name, store: store, root: try first(directories))
    }

    private static func first(_ directories: [DomainDirectory]) throws(ControlFailure) -> DomainDirectory {
        guard let first = directories.first else {
            throw ControlFailure(.failed, "no directory for domains: neither XDG_DATA_HOME nor a home directory is set")
        }
        return first
    }

    /// The last part of the URL, with a number appended if the name is taken.
    private static func freshName(for store: StoreURL, in directories: [DomainDirectory]) throws -> DomainName {
        let last = store.rest.split(separator: "/").last.map(String.init) ?? store.scheme
        let allowed = last.unicodeScalars.filter { $0 != ":" && $0 != "%" && SanitizedText.isHarmless($0) }
        var stem = String(String.UnicodeScalarView(allowed.drop { $0 == "." || $0 == "-" || $0 == " " }).prefix(40))
        if stem.isEmpty { stem = store.scheme }
        for number in 1...1000 {
            let name = try DomainName(number == 1 ? stem : "\(stem) \(number)")
            if try directories.domain(named: name) == nil { return name }
        }
        throw ControlFailure(.domainExists, "every name like \(stem) is taken: give the domain a name and store=URL")
    }

    private static func find<Value>(_ body: () throws -> Value) throws(ControlFailure) -> Value {
        do { return try body() } catch { throw ControlFailure(error) }
    }
}
