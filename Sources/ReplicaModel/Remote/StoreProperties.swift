/// What a store can keep and do. What it cannot keep stays local.
public struct StoreProperties: Sendable, Hashable, Codable {
    /// The fields it keeps; `contents` and `place` always.
    public var fields: ItemFields
    public var keepsSymlinks: Bool
    public var keepsTrash: Bool
    /// Whether ``RemoteStore/fetchContents(of:version:range:into:)`` can fetch less than the whole.
    public var fetchesRanges: Bool
    /// Whether ``RemoteStore/enumerateChanges(from:)`` tells all changes. Without it the engine lists and compares.
    public var hasChangeFeed: Bool
    public var isCaseSensitive: Bool
    /// The longest name in bytes of UTF-8.
    public var longestName: Int
    /// How many calls it serves well at a time, 1 to 128.
    public var concurrency: Int
    /// Whether a directory may be imported into it (statement 11).
    public var allowsImport: Bool

    /// The properties of a store that keeps everything, but no trash.
    public init() {
        fields = .all
        keepsSymlinks = true
        keepsTrash = false
        fetchesRanges = true
        hasChangeFeed = true
        isCaseSensitive = true
        longestName = 255
        concurrency = 8
        allowsImport = true
    }
}
