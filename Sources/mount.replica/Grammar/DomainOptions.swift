import SystemPackage

/// Options that belong to a domain; kept in `domain.json`, so that the next mount has them too.
struct DomainOptions: Equatable {
    /// Names of programs that get EDEADLK instead of a download.
    private(set) var noHydrate = Scanners.known
    /// At most this many bytes of content that the store has too.
    private(set) var cacheMax: UInt64?
    /// Evict so that this many bytes stay free on the disk.
    private(set) var cacheMinFree: UInt64?
    /// Programs may do only what the store's capabilities allow.
    private(set) var enforcesCapabilities = false
    /// Set-user-ID and set-group-ID bits come from the store and go there.
    private(set) var trustsSetID = false
    /// The store's secrets. ``CredentialsFile`` says whether it may be used.
    private(set) var credentials: FilePath?
    /// The options as they were written, in their order, one each: what `domain.json` keeps.
    private(set) var texts: [String] = []

    init() {}

    /// Reads options one by one, as `domain.json` and the socket's `mount` request have them.
    init(texts: [String]) throws(MountUsageError) {
        for text in texts {
            let (key, value) = OptionText.keyAndValue(Array(text.utf8))
            guard try read(key, value) else { throw MountUsageError("unknown option '\(key)'") }
        }
    }

    /// Takes the option if it is one of ours; a later one replaces an earlier one of the same key.
    mutating func read(_ key: String, _ value: [UInt8]?) throws(MountUsageError) -> Bool {
        switch key {
        case "nohydrate":
            // An empty list lets every program download.
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
        // domain.json keeps text: what isn't UTF-8 would come back as something else.
        guard let written = String(validating: value ?? [], as: UTF8.self) else {
            throw MountUsageError("option '\(key)' needs a value in UTF-8")
        }
        texts.removeAll { $0 == key || $0.hasPrefix(key + "=") }
        texts.append(value == nil ? key : "\(key)=\(written)")
        return true
    }
}
