import PathStore
import ReplicaModel

/// What a remote is and can do (`operations/fsinfo`).
struct RemoteInfo: Decodable, Hashable, Sendable {
    /// What it is, for people.
    let words: String
    /// Nanoseconds that its times are exact to.
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

/// What the store makes of it.
/// Large: an answer in each field.
struct RemoteAbilities: Hashable, Sendable {
    /// The hash by which contents are told apart; nil where the remote has none, or would have to read the file for it.
    var hash: String?
    /// Nanoseconds that its times are exact to.
    var precision: Int64
    /// Whether files have times that are given to them.
    var keepsTimes: Bool
    /// Whether a file's time can be set without its content.
    var setsTimes: Bool
    /// Whether each time is a request of its own: then the server's own is asked for.
    var asksForTimes: Bool
    /// Whether a folder is there with nothing in it.
    var keepsEmptyFolders: Bool
    /// Whether it moves files and folders without sending their contents.
    var (movesFiles, movesFolders): (Bool, Bool)
    var listsDeep: Bool
    var isCaseSensitive: Bool
    var longestName: Int

    /// Those that tell contents apart for sure, the best first.
    private static let hashKinds = [
        "sha256", "blake3", "sha512", "sha1", "md5", "quickxor", "dropbox", "hidrive", "mailru", "whirlpool", "xxh128",
    ]
    /// Where no time can be set (rclone's `ModTimeNotSupported`): a hundred years.
    private static let noTimes: Int64 = 1_000_000_000_000_000_000
    /// Times that are exact to this, a millisecond, are of another content when they are others.
    private static let exact: Int64 = 1_000_000

    /// - Parameter setsTimes: Whether another rclone may be started for it.
    init(_ info: RemoteInfo, setsTimes: Bool) {
        func has(_ feature: String) -> Bool { info.features[feature] == true }
        let kinds = has("SlowHash") ? [] : info.hashes ?? []
        hash = Self.hashKinds.first { kinds.contains($0) }
        precision = max(0, info.precision)
        keepsTimes = precision < Self.noTimes
        // What is in the memory of one process is in no other's.
        self.setsTimes = setsTimes && keepsTimes && !info.words.hasPrefix("Memory ")
        asksForTimes = has("SlowModTime")
        keepsEmptyFolders = has("CanHaveEmptyDirectories")
        (movesFiles, movesFolders) = (has("Move"), has("DirMove"))
        listsDeep = has("ListR")
        isCaseSensitive = !has("CaseInsensitive")
        // Each name becomes longer, and what becomes of it has to fit into 255 bytes.
        longestName = info.words.hasPrefix("Encrypted drive") ? 143 : 255
    }

    /// Nanoseconds within which two contents of one size may have one version.
    var grain: Int64 {
        if hash != nil || keepsTimes && precision <= Self.exact { return 0 }
        return keepsTimes ? precision : 2_000_000_000
    }

    /// The time that a new content gets: where nothing else tells it from the one that it replaces, it is another.
    func time(_ wanted: Timestamp, over former: RemoteItem, size: Int64) -> Timestamp {
        guard hash == nil, keepsTimes, former.size == size, let there = former.time else { return wanted }
        let difference = wanted.nanoseconds.subtractingReportingOverflow(there.nanoseconds)
        guard !difference.overflow, difference.partialValue.magnitude < max(1, precision) else { return wanted }
        let next = there.nanoseconds.addingReportingOverflow(max(1, precision))
        return next.overflow ? wanted : Timestamp(nanoseconds: next.partialValue)
    }

    /// Seconds of times that every file system has: 1980 to 2037.
    private static let common: Range<Int64> = 315_619_200..<2_145_916_800

    /// Whether a file has the time that was sent with it; nil where that proves nothing.
    func hasTime(_ item: RemoteItem, _ sent: Timestamp) -> Bool? {
        guard keepsTimes, !asksForTimes, Self.common.contains(sent.seconds), let time = item.time else { return nil }
        let difference = time.nanoseconds.subtractingReportingOverflow(sent.nanoseconds)
        return !difference.overflow && difference.partialValue.magnitude <= precision
    }

    /// What a storage with these can do.
    var properties: PathStorageProperties {
        var properties = PathStorageProperties()
        // rclone tests no condition: each is looked at before.
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
        properties.isCaseSensitive = isCaseSensitive
        properties.longestName = longestName
        properties.concurrency = 16
        return properties
    }
}
