/// The name a store gives an item: stable for the item's life, opaque to the engine, never empty, and written to logs,
/// so free of secrets (MODEL.md#items).
public struct ItemIdentifier: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The store's own text, at most 1,024 bytes.
    public let rawValue: String

    /// Makes an identifier of a store's own text.
    public init(_ rawValue: String) {
        self.rawValue = rawValue
    }

    /// The domain's root folder.
    public static let root = ItemIdentifier("replica:root")
    /// The folder that trashed items move to, in stores that keep a trash.
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
