/// An item's metadata. Nil means that the store does not keep the field, so the local value remains. An empty value is
/// different from nil, see ``cleared``.
public struct ItemMetadata: Hashable, Sendable, Codable {
    /// The twelve permission bits.
    public var mode: UInt16?
    public var modificationDate: Timestamp?
    /// When the user last used the item; neither the access time nor the modification time (MODEL.md#items). The epoch
    /// means never.
    public var lastUsedDate: Timestamp?
    /// The text of `user.xdg.tags`: tags separated by commas; empty if there are none.
    public var tags: String?
    /// The rank among the user's favorites; 0 if it is not a favorite.
    public var favoriteRank: UInt64?
    /// The other replicated `user.*` attributes.
    public var extendedAttributes: [String: [UInt8]]?

    /// Metadata in which all fields are nil.
    public init() {}

    /// No tags, never used, not a favorite, no attributes: the values that nil means in Apple's actions
    /// (MODEL.md#items).
    public static let cleared: ItemMetadata = {
        var metadata = ItemMetadata()
        metadata.lastUsedDate = Timestamp(nanoseconds: 0)
        metadata.tags = ""
        metadata.favoriteRank = 0
        metadata.extendedAttributes = [:]
        return metadata
    }()

    /// The extended fields that are not nil.
    var keptFields: ItemFields {
        var fields: ItemFields = []
        if tags != nil { fields.insert(.tags) }
        if lastUsedDate != nil { fields.insert(.lastUsedDate) }
        if favoriteRank != nil { fields.insert(.favoriteRank) }
        if extendedAttributes != nil { fields.insert(.extendedAttributes) }
        return fields
    }

    /// The fields whose value is that of ``cleared``.
    var clearedFields: ItemFields {
        var fields: ItemFields = []
        if tags == Self.cleared.tags { fields.insert(.tags) }
        if lastUsedDate == Self.cleared.lastUsedDate { fields.insert(.lastUsedDate) }
        if favoriteRank == Self.cleared.favoriteRank { fields.insert(.favoriteRank) }
        if extendedAttributes == Self.cleared.extendedAttributes { fields.insert(.extendedAttributes) }
        return fields
    }

    /// The fields that the store keeps and whose values differ there, except the dates of the content.
    func fields(differingFrom stored: ItemMetadata) -> ItemFields {
        var fields: ItemFields = []
        if let mode, let other = stored.mode, mode != other { fields.insert(.mode) }
        if let tags, let other = stored.tags, tags != other { fields.insert(.tags) }
        if let lastUsedDate, let other = stored.lastUsedDate, lastUsedDate != other { fields.insert(.lastUsedDate) }
        if let favoriteRank, let other = stored.favoriteRank, favoriteRank != other { fields.insert(.favoriteRank) }
        if let extendedAttributes, let other = stored.extendedAttributes, extendedAttributes != other {
            fields.insert(.extendedAttributes)
        }
        return fields
    }

    /// Copies `fields` from `other`.
    public mutating func take(_ fields: ItemFields, from other: ItemMetadata) {
        if fields.contains(.mode) { mode = other.mode }
        if fields.contains(.modificationDate) { modificationDate = other.modificationDate }
        if fields.contains(.lastUsedDate) { lastUsedDate = other.lastUsedDate }
        if fields.contains(.tags) { tags = other.tags }
        if fields.contains(.favoriteRank) { favoriteRank = other.favoriteRank }
        if fields.contains(.extendedAttributes) { extendedAttributes = other.extendedAttributes }
    }
}
