/// An item in the store.
public struct Item: Hashable, Sendable, Codable {
    public var identifier: ItemIdentifier
    /// The real parent, also in the working set; ``ItemIdentifier/trash`` for trashed items.
    public var parent: ItemIdentifier
    /// The name in the store. It is untrusted until checked: it may be empty, too long or contain `/`.
    public var filename: FileName
    public var kind: ItemKind
    public var version: ItemVersion
    /// The content's size in bytes; 0 for folders and symlinks.
    public var size: Int64
    /// The target of a symlink; nil for all other kinds.
    public var target: [UInt8]?
    public var metadata: ItemMetadata
    public var capabilities: Capabilities
    /// False while the store is still processing the content: the item is then not evicted.
    public var isUploaded: Bool

    /// An item with these properties.
    public init(
        identifier: ItemIdentifier, parent: ItemIdentifier, filename: FileName, kind: ItemKind, version: ItemVersion,
        size: Int64 = 0, target: [UInt8]? = nil, metadata: ItemMetadata = ItemMetadata(),
        capabilities: Capabilities = .all, isUploaded: Bool = true
    ) {
        self.identifier = identifier
        self.parent = parent
        self.filename = filename
        self.kind = kind
        self.version = version
        self.size = size
        self.target = target
        self.metadata = metadata
        self.capabilities = capabilities
        self.isUploaded = isUploaded
    }
}

extension FileName: Codable {
    public init(from decoder: any Decoder) throws {
        self.init(bytes: try decoder.singleValueContainer().decode([UInt8].self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(bytes)
    }
}
