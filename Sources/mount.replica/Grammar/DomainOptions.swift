import SystemPackage

/// Options of a domain, stored in `domain.json` for later mounts.
struct DomainOptions: Equatable {
    /// Names of programs that get EDEADLK instead of a download.
    private(set) var noHydrate = Scanners.known
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
        switch key {
        case "nohydrate":
            // With an empty list every program may download.
            let list = value ?? []
            noHydrate = list.split(separator: UInt8(ascii: ":")).map { String(decoding: $0, as: UTF8.self) }
        case "cache-max": cacheMax = try OptionText.size(value, of: key)
        case "cache-min-free": cacheMinFree = try OptionText.size(value, of: key)
        case "enforce_caps", "noenforce_caps":
            try OptionText.expectNone(value, of: key)
            enforcesCapabilities = key == "enforce_caps"
            texts.removeAll { $0.hasSuffix("enforce_caps") }
        case "trust_setid", "notrust_setid":
            try OptionText.expectNone(value, of: key)
            trustsSetID = key == "trust_setid"
            texts.removeAll { $0.hasSuffix("trust_setid") }
        case "credentials": credentials = try OptionText.absolutePath(value, of: key)
        default: return false
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
