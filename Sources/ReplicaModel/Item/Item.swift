/// An item as the store knows it.
public struct Item: Hashable, Sendable, Codable {
    public var identifier: ItemIdentifier
    /// The real parent, also in the working set; ``ItemIdentifier/trash`` for what was trashed.
    public var parent: ItemIdentifier
    /// The store's name. It is hostile until checked: it may be empty, too long or hold `/`.
    public var filename: FileName
    public var kind: ItemKind
    public var version: ItemVersion
    /// The content's size in bytes; 0 for folders and symlinks.
    public var size: Int64
    /// What a symlink points to; nil for all other kinds.
    public var target: [UInt8]?
    public var metadata: ItemMetadata
    public var capabilities: Capabilities
    /// False while the store still takes the content in: the item is not evicted then.
    public var isUploaded: Bool

    /// An item of these parts; what is left out is the usual.
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
