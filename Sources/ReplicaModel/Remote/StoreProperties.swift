/// What a store can keep and do. Anything else stays local.
public struct StoreProperties: Sendable, Hashable, Codable {
    /// The fields it keeps; `contents` and `place` always.
    public var fields: ItemFields
    public var keepsSymlinks: Bool
    public var keepsTrash: Bool
    /// Whether ``RemoteStore/fetchContents(of:version:range:into:)`` can fetch parts of a content.
    public var fetchesRanges: Bool
    /// Whether ``RemoteStore/enumerateChanges(from:)`` reports all changes. Otherwise the engine lists and compares.
    public var hasChangeFeed: Bool
    /// Whether each content has a version of its own. If not, for example because versions consist of size and time, an
    /// item with a new metadata version may also have new content: the local content is compared, except for changes
    /// that the feed reports (``ChangeBatch/rewritten``).
    public var reportsEveryContentChange: Bool
    public var isCaseSensitive: Bool
    /// The longest name in bytes of UTF-8.
    public var longestName: Int
    /// Whether an item keeps its identifier when another client renames it, and an item that reuses a name gets a new one.
    /// Otherwise items are identified by their paths: another client's rename is a deletion and a creation.
    public var keepsIdentifiers: Bool
    /// Whether ``RemoteStore/itemCreated(from:)`` finds created items. Otherwise a create whose answer was lost is
    /// repeated with ``CreateOptions/mayAlreadyExist``.
    public var recognizesCreates: Bool
    /// The number of concurrent calls that it handles well, 1 to 128.
    public var concurrency: Int
    /// Whether a directory may be imported into it (statement 11).
    public var allowsImport: Bool

    private enum CodingKeys: String, CodingKey {
        case fields, keepsSymlinks, keepsTrash, fetchesRanges, hasChangeFeed
        /// The name in `store.json` when the property was `tellsEveryContent`.
        case reportsEveryContentChange = "tellsEveryContent"
        case isCaseSensitive, longestName, keepsIdentifiers, recognizesCreates, concurrency, allowsImport
    }

    /// The properties of a store that keeps everything, but no trash.
    public init() {
        fields = .all
        keepsSymlinks = true
        keepsTrash = false
        fetchesRanges = true
        hasChangeFeed = true
        reportsEveryContentChange = true
        isCaseSensitive = true
        longestName = 255
        keepsIdentifiers = true
        recognizesCreates = true
        concurrency = 8
        allowsImport = true
    }
}
