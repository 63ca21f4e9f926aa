/// The position at which an enumeration continues, at most 500 bytes.
public struct EnumerationPage: Hashable, Sendable {
    public let bytes: [UInt8]

    /// A page of a store's own bytes.
    public init(bytes: [UInt8]) {
        self.bytes = bytes
    }
}

/// A page of a folder's items.
public struct ItemPage: Sendable {
    public var items: [Item]
    /// Nil for the last page.
    public var next: EnumerationPage?

    public init(items: [Item], next: EnumerationPage? = nil) {
        self.items = items
        self.next = next
    }
}
