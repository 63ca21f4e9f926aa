/// The state of an item at its last sync with the store.
struct Base: Hashable {
    var parent: ItemNumber
    /// The size of the store's content.
    var size: Int64
    var capabilities: Capabilities
    var isUploaded: Bool
    /// Identifier, name and the two components of the version.
    private var texts: PackedTexts

    init(
        identifier: ItemIdentifier, parent: ItemNumber, name: FileName, version: ItemVersion, size: Int64,
        capabilities: Capabilities = .all, isUploaded: Bool = true
    ) {
        self.parent = parent
        self.size = size
        self.capabilities = capabilities
        self.isUploaded = isUploaded
        texts = PackedTexts([
            Array(identifier.rawValue.utf8), name.bytes, Array(version.content.utf8), Array(version.metadata.utf8),
        ])
    }

    var identifier: ItemIdentifier {
        get { ItemIdentifier(texts.text(0)) }
        set { repack(identifier: newValue) }
    }
    var name: FileName {
        get { FileName(bytes: Array(texts[1])) }
        set { repack(name: newValue) }
    }
    var version: ItemVersion {
        get { ItemVersion(content: texts.text(2), metadata: texts.text(3)) }
        set { repack(version: newValue) }
    }

    private mutating func repack(
        identifier: ItemIdentifier? = nil, name: FileName? = nil, version: ItemVersion? = nil
    ) {
        self = Base(
            identifier: identifier ?? self.identifier, parent: parent, name: name ?? self.name,
            version: version ?? self.version, size: size, capabilities: capabilities, isUploaded: isUploaded)
    }

    // Without converting the bytes to strings:

    var identifierHash: Int { texts.hash(0) }

    func isIdentified(by identifier: ItemIdentifier) -> Bool { texts[0].elementsEqual(identifier.rawValue.utf8) }
    func isNamed(_ name: FileName) -> Bool { texts[1].elementsEqual(name.bytes) }
}
