import Testing

@testable import mount_replica

/// Every option of a domain either changes while it is served, or is refused.
@Suite struct OptionChangeTests {
    /// The option with another value than the default.
    private static func text(_ name: StoredDomainOptions.Name) -> String {
        switch name {
        case .noHydrate: "nohydrate=other"
        case .cacheMax, .cacheMinFree: "\(name.rawValue)=1G"
        case .enforceCaps, .noEnforceCaps, .trustSetID, .noTrustSetID: name.rawValue
        case .credentials: "credentials=/file"
        }
    }

    /// What is in force before, so that the option changes it.
    private static func before(_ name: StoredDomainOptions.Name) -> [String] {
        switch name {
        case .noEnforceCaps: ["enforce_caps"]
        case .noTrustSetID: ["trust_setid"]
        default: []
        }
    }

    @Test(arguments: StoredDomainOptions.Name.allCases)
    func eachOptionChangesOrIsNamed(name: StoredDomainOptions.Name) throws {
        let before = try StoredDomainOptions(texts: Self.before(name))
        let after = try StoredDomainOptions(texts: Self.before(name) + [Self.text(name)])
        let change = OptionChange(from: before, to: after, isMounted: true)
        let changes = [StoredDomainOptions.Name.cacheMax, .cacheMinFree].contains(name)
        #expect(change.impossible == (changes ? [] : [name.rawValue]))
        #expect(OptionChange(from: after, to: after, isMounted: true).impossible == [])
    }

    @Test func eachMountHasItsOwnScanners() throws {
        let after = try StoredDomainOptions(texts: ["nohydrate=other"])
        #expect(OptionChange(from: StoredDomainOptions(), to: after, isMounted: false).impossible == [])
    }
}
