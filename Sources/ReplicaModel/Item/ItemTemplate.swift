/// The desired state of an item that the engine asks a store to create or change.
public struct ItemTemplate: Hashable, Sendable {
    /// For a create, the template identifier: unique, and the same in every attempt, even after a crash (statements 71
    /// to 73). For a change, the item's own identifier.
    public var identifier: ItemIdentifier
    public var parent: ItemIdentifier
    public var filename: FileName
    public var kind: ItemKind
    public var target: [UInt8]?
    public var metadata: ItemMetadata

    /// A template with these properties.
    public init(
        identifier: ItemIdentifier, parent: ItemIdentifier, filename: FileName, kind: ItemKind, target: [UInt8]? = nil,
        metadata: ItemMetadata = ItemMetadata()
    ) {
        self.identifier = identifier
        self.parent = parent
        self.filename = filename
        self.kind = kind
        self.target = target
        self.metadata = metadata
    }
}
