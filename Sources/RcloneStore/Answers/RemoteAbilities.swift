import PathStore
import ReplicaModel

/// A remote's features (`operations/fsinfo`).
struct RemoteInfo: Decodable, Hashable, Sendable {
    /// Its description, for users.
    let words: String
    /// The precision of its times, in nanoseconds.
    let precision: Int64
    let hashes: [String]?
    let features: [String: Bool]

    private enum CodingKeys: String, CodingKey {
        case words = "String"
        case precision = "Precision"
        case hashes = "Hashes"
        case features = "Features"
    }
}

/// What the store concludes from it. Large: a feature in each field.
struct RemoteAbilities: Hashable, Sendable {
    /// The hash that identifies contents; nil if the remote has none, or would have to read the file for it.
    var hash: String?
    /// The precision of its times, in nanoseconds.
    var precision: Int64
    /// Whether the times of files can be set.
    var keepsTimes: Bool
    /// Whether a file's time can be set without its content.
    var setsTimes: Bool
    /// Whether reading a time costs a request per file: then the server's own time is used.
    var asksForTimes: Bool
    /// Whether empty folders exist.
    var keepsEmptyFolders: Bool
    /// Whether it moves files and folders without transferring their contents.
    var (movesFiles, movesFolders): (Bool, Bool)
    var listsDeep: Bool
    /// Whether it knows its space (`operations/about`).
    var tellsUsage: Bool
    var isCaseSensitive: Bool
    var longestName: Int

    /// The hashes that reliably identify contents, the best first.
    private static let hashKinds = [
        "sha256", "blake3", "sha512", "sha1", "md5", "quickxor", "dropbox", "hidrive", "mailru", "whirlpool", "xxh128",
    ]
    /// If no time can be set (rclone's `ModTimeNotSupported`): a hundred years.
    private static let noTimes: Int64 = 1_000_000_000_000_000_000
    /// With times of this precision, a millisecond, a different time means a different content.
    private static let exact: Int64 = 1_000_000

    /// - Parameter setsTimes: Whether another rclone may be started for it.
    init(_ info: RemoteInfo, setsTimes: Bool) {
        func has(_ feature: String) -> Bool { info.features[feature] == true }
        let kinds = has("SlowHash") ? [] : info.hashes ?? []
        hash = Self.hashKinds.first { kinds.contains($0) }
        precision = max(0, info.precision)
        keepsTimes = precision < Self.noTimes
        // The `memory` backend is not shared between processes.
        self.setsTimes = setsTimes && keepsTimes && !info.words.hasPrefix("Memory ")
        asksForTimes = has("SlowModTime")
        keepsEmptyFolders = has("CanHaveEmptyDirectories")
        (movesFiles, movesFolders) = (has("Move"), has("DirMove"))
        listsDeep = has("ListR")
        tellsUsage = has("About")
        isCaseSensitive = !has("CaseInsensitive")
        // Each name becomes longer, and the result has to fit into 255 bytes.
        longestName = info.words.hasPrefix("Encrypted drive") ? 143 : 255
    }

    /// The time in nanoseconds within which two contents of the same size may have the same version.
    var grain: Int64 {
        if hash != nil || keepsTimes && precision <= Self.exact { return 0 }
        return keepsTimes ? precision : 2_000_000_000
    }

    /// The time of a new content: if nothing else distinguishes it from the one that it replaces, the time must differ.
    func time(_ wanted: Timestamp, over former: RemoteItem, size: Int64) -> Timestamp {
        guard hash == nil, keepsTimes, former.size == size, let there = former.time else { return wanted }
        let difference = wanted.nanoseconds.subtractingReportingOverflow(there.nanoseconds)
        guard !difference.overflow, difference.partialValue.magnitude < max(1, precision) else { return wanted }
        let next = there.nanoseconds.addingReportingOverflow(max(1, precision))
        return next.overflow ? wanted : Timestamp(nanoseconds: next.partialValue)
    }

    /// The range of times that every filesystem supports, in seconds: 1980 to 2037.
    private static let common: Range<Int64> = 315_619_200..<2_145_916_800

    /// Whether a file has the time that was sent with it; nil if that proves nothing.
    func hasTime(_ item: RemoteItem, _ sent: Timestamp) -> Bool? {
        guard keepsTimes, !asksForTimes, Self.common.contains(sent.seconds), let time = item.time else { return nil }
        let difference = time.nanoseconds.subtractingReportingOverflow(sent.nanoseconds)
        return !difference.overflow && difference.partialValue.magnitude <= precision
    }

    /// The properties of a storage with these features.
    var properties: PathStorageProperties {
        var properties = PathStorageProperties()
        // rclone has no conditions: each is checked before the call.
        (properties.createStrength, properties.replaceStrength) = (.checked, .checked)
        (properties.removeStrength, properties.moveStrength) = (.checked, .checked)
        properties.changeGrain = grain
        properties.keepsModes = false
        properties.keepsModificationDates = setsTimes
        properties.keepsMarks = false
        properties.keepsSymlinks = false
        properties.listsAttributes = !asksForTimes
        properties.listsDeep = listsDeep
        properties.fetchesRanges = true
        properties.tellsUsage = tellsUsage
        properties.isCaseSensitive = isCaseSensitive
        properties.longestName = longestName
        properties.concurrency = 16
        return properties
    }
}
