/// The parts of an item that a change affects. The bits are those of `NSFileProviderItemFields` (MODEL.md#items) that
/// have a meaning on Linux, where no program can set a creation date.
public struct ItemFields: OptionSet, Hashable, Codable, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    public static let contents = ItemFields(rawValue: 1)
    public static let filename = ItemFields(rawValue: 2)
    public static let parent = ItemFields(rawValue: 4)
    public static let lastUsedDate = ItemFields(rawValue: 8)
    public static let tags = ItemFields(rawValue: 16)
    public static let favoriteRank = ItemFields(rawValue: 32)
    public static let modificationDate = ItemFields(rawValue: 128)
    /// The permission bits.
    public static let mode = ItemFields(rawValue: 256)
    public static let extendedAttributes = ItemFields(rawValue: 512)

    /// The location of the item: its name and its parent.
    public static let place: ItemFields = [.filename, .parent]
    /// Everything except contents and place.
    public static let metadata: ItemFields = [
        .lastUsedDate, .tags, .favoriteRank, .modificationDate, .mode, .extendedAttributes,
    ]
    public static let all: ItemFields = [.contents, .place, .metadata]
}
