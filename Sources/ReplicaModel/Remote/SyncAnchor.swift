/// A point in a store's history, at most 500 bytes (MODEL.md#items).
public struct SyncAnchor: Hashable, Sendable, Codable {
    public let bytes: [UInt8]

    /// An anchor of a store's own bytes.
    public init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// An anchor of a store's own text.
    public init(_ text: String) {
        bytes = Array(text.utf8)
    }
}
