/// An item's identifier in the store: stable for the item's life, opaque to the engine and never empty. It is written
/// to logs, so it must not contain secrets (MODEL.md#items).
public struct ItemIdentifier: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The store's own text, at most 1,024 bytes.
    public let rawValue: String

    /// An identifier with the store's own text.
    public init(_ rawValue: String) {
        self.rawValue = rawValue
    }

    /// The domain's root folder.
    public static let root = ItemIdentifier("replica:root")
    /// The folder of trashed items, in stores that have a trash.
    public static let trash = ItemIdentifier("replica:trash")

    public var description: String { rawValue }

    public init(from decoder: any Decoder) throws {
        rawValue = try decoder.singleValueContainer().decode(String.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}
