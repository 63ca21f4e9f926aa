import SystemPackage

/// Options of a domain, stored in `domain.json` for later mounts.
struct StoredDomainOptions: Equatable {
    /// Their names. The manual page has each of them (`ManualTests`).
    enum Name: String, CaseIterable {
        case noHydrate = "nohydrate"
        case cacheMax = "cache-max"
        case cacheMinFree = "cache-min-free"
        case enforceCaps = "enforce_caps"
        case noEnforceCaps = "noenforce_caps"
        case trustSetID = "trust_setid"
        case noTrustSetID = "notrust_setid"
        case credentials

        var takesValue: Bool { [.noHydrate, .cacheMax, .cacheMinFree, .credentials].contains(self) }
    }

    /// Names of programs that get EDEADLK instead of a download.
    private(set) var noHydrate = IndexersAndThumbnailers.known
    /// The maximum size of cached content in bytes.
    private(set) var cacheMax: UInt64?
    /// The number of bytes to keep free on the disk.
    private(set) var cacheMinFree: UInt64?
    /// Operations that the store's capabilities do not allow are refused.
    private(set) var enforcesCapabilities = false
    /// Set-user-ID and set-group-ID bits are synced.
    private(set) var trustsSetID = false
    /// The file with the store's credentials, checked by ``CredentialsFile``.
    private(set) var credentials: FilePath?
    /// The options as they were given, in order, as stored in `domain.json`.
    private(set) var texts: [String] = []

    init() {}

    /// Parses separate options, as in `domain.json` and in the socket's `mount` request.
    init(texts: [String]) throws(MountUsageError) {
        for text in texts {
            let (key, value) = OptionText.keyAndValue(Array(text.utf8))
            guard try read(key, value) else { throw MountUsageError("unknown option '\(key)'") }
        }
    }

    /// Accepts the option if it is one of ours; it replaces an earlier one with the same key.
    mutating func read(_ key: String, _ value: [UInt8]?) throws(MountUsageError) -> Bool {
        guard let name = Name(rawValue: key) else { return false }
        if !name.takesValue { try OptionText.expectNone(value, of: key) }
        switch name {
        case .noHydrate:
            // With an empty list every program may download.
            let list = value ?? []
            noHydrate = list.split(separator: UInt8(ascii: ":")).map { String(decoding: $0, as: UTF8.self) }
        case .cacheMax: cacheMax = try OptionText.size(value, of: key)
        case .cacheMinFree: cacheMinFree = try OptionText.size(value, of: key)
        case .enforceCaps, .noEnforceCaps:
            enforcesCapabilities = name == .enforceCaps
            texts.removeAll { $0.hasSuffix(Name.enforceCaps.rawValue) }
        case .trustSetID, .noTrustSetID:
            trustsSetID = name == .trustSetID
            texts.removeAll { $0.hasSuffix(Name.trustSetID.rawValue) }
        case .credentials: credentials = try OptionText.absolutePath(value, of: key)
        }
        // domain.json contains text: bytes that are not UTF-8 would come back changed.
        guard let written = String(validating: value ?? [], as: UTF8.self) else {
            throw MountUsageError("option '\(key)' needs a value in UTF-8")
        }
        texts.removeAll { $0 == key || $0.hasPrefix(key + "=") }
        texts.append(value == nil ? key : "\(key)=\(written)")
        return true
    }
}
