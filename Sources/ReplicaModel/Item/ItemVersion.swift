/// The version of an item in the store: two opaque strings of at most 128 bytes each (MODEL.md#items).
public struct ItemVersion: Hashable, Sendable, Codable {
    /// Changes whenever the content may have changed; empty for folders.
    public var content: String
    /// Changes whenever the name, the parent or the metadata may have changed.
    public var metadata: String

    /// A version of these two components.
    public init(content: String, metadata: String) {
        self.content = content
        self.metadata = metadata
    }

    /// The base of an item that was never synchronized (`beforeFirstSyncComponent`).
    public static let beforeFirstSync = ItemVersion(content: "", metadata: "")
}
