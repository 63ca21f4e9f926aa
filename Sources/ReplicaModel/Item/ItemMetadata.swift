/// What an item has beside its place and its content. Nil means that the store does not keep it: the replica's own
/// value then stands.
public struct ItemMetadata: Hashable, Sendable, Codable {
    /// The twelve permission bits.
    public var mode: UInt16?
    public var modificationDate: Timestamp?
    public var creationDate: Timestamp?
    /// When a person last used the item; neither access nor modification time (file-provider.md §17).
    public var lastUsedDate: Timestamp?
    /// The text of `user.xdg.tags`: tags with commas between them.
    public var tags: String?
    /// The place among a person's favourites, in any unit that orders them.
    public var favoriteRank: UInt64?
    /// The other `user.*` attributes that are replicated.
    public var extendedAttributes: [String: [UInt8]]?

    /// Metadata of which nothing is known.
    public init() {}

    /// Takes `fields` over from `other`.
    public mutating func take(_ fields: ItemFields, from other: ItemMetadata) {
        if fields.contains(.mode) { mode = other.mode }
        if fields.contains(.modificationDate) { modificationDate = other.modificationDate }
        if fields.contains(.creationDate) { creationDate = other.creationDate }
        if fields.contains(.lastUsedDate) { lastUsedDate = other.lastUsedDate }
        if fields.contains(.tags) { tags = other.tags }
        if fields.contains(.favoriteRank) { favoriteRank = other.favoriteRank }
        if fields.contains(.extendedAttributes) { extendedAttributes = other.extendedAttributes }
    }
}
