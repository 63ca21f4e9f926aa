import ReplicaControl

/// What options mean for a domain that is served already: the limits of its cache change at once, everything else only when its
/// daemon starts, or when it is mounted.
struct OptionChange: Equatable {
    /// The options that can't change now, by their names.
    private(set) var impossible: [String] = []

    /// - Parameters:
    ///   - current: In force now.
    ///   - wanted: The same, with the new options.
    ///   - isMounted: Whether what belongs to a mount stays too.
    init(from current: StoredDomainOptions, to wanted: StoredDomainOptions, isMounted: Bool) {
        if isMounted, current.noHydrate != wanted.noHydrate { impossible.append("nohydrate") }
        if current.enforcesCapabilities != wanted.enforcesCapabilities {
            impossible.append(wanted.enforcesCapabilities ? "enforce_caps" : "noenforce_caps")
        }
        if current.trustsSetID != wanted.trustsSetID {
            impossible.append(wanted.trustsSetID ? "trust_setid" : "notrust_setid")
        }
        if current.credentials != wanted.credentials { impossible.append("credentials") }
    }

    /// - Throws: `busy`, with the command after which they can be given.
    func refuse(domain: DomainName) throws(ControlFailure) {
        guard !impossible.isEmpty else { return }
        let names = impossible.joined(separator: ", ")
        throw ControlFailure(
            .busy,
            "\(names) can't change while \(domain) is served: 'replica unmount \(domain)', then mount it with the option"
        )
    }
}
