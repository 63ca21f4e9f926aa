import ReplicaModel

/// The arguments (`with`) of the calls of the level `item`. Fields that are nil are omitted.
struct ItemCallArguments: Encodable, Sendable {
    var id: ItemIdentifier?
    var folder: ItemIdentifier?
    var page: String?
    var anchor: String?
    var version: String?
    var range: Range<Int64>?
    /// The name of a spool file.
    var file: String?
    var size: Int64?
    var template: ItemTemplate?
    var base: ItemVersion?
    var fields: ItemFields?
    var options: CreateOptions = []

    private enum Key: String, CodingKey {
        case id, folder, page, anchor, version, offset, length, file, size, template, base, fields, mayAlreadyExist
        case deletionConflicted
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encodeIfPresent(id, forKey: .id)
        try container.encodeIfPresent(folder, forKey: .folder)
        try container.encodeIfPresent(page, forKey: .page)
        try container.encodeIfPresent(anchor, forKey: .anchor)
        try container.encodeIfPresent(version, forKey: .version)
        try container.encodeIfPresent(range?.lowerBound, forKey: .offset)
        try container.encodeIfPresent(range.map { $0.upperBound - $0.lowerBound }, forKey: .length)
        try container.encodeIfPresent(file, forKey: .file)
        try container.encodeIfPresent(size, forKey: .size)
        try container.encodeIfPresent(template.map(WireTemplate.init), forKey: .template)
        try container.encodeIfPresent(base, forKey: .base)
        try container.encodeIfPresent(fields.map(WireFields.init), forKey: .fields)
        if options.contains(.mayAlreadyExist) { try container.encode(true, forKey: .mayAlreadyExist) }
        if options.contains(.deletionConflicted) { try container.encode(true, forKey: .deletionConflicted) }
    }

    /// Whether all of it is UTF-8.
    var isUTF8: Bool {
        WireText(template?.filename.bytes ?? []).isUTF8 && WireText(template?.target ?? []).isUTF8
    }
}

/// The wire form of a template.
private struct WireTemplate: Encodable {
    let template: ItemTemplate

    private enum Key: String, CodingKey {
        case id, parent, name, name64, kind, target, target64
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(template.identifier, forKey: .id)
        try container.encode(template.parent, forKey: .parent)
        try WireText(template.filename.bytes).encode(into: &container, .name, .name64)
        try container.encode(WireKind(template.kind), forKey: .kind)
        try template.target.map(WireText.init)?.encode(into: &container, .target, .target64)
        try WireMetadata(template.metadata).encode(to: encoder)
    }
}

/// The result of a call that returns an item, or null.
struct ItemResult: Decodable {
    let item: WireItem?
    let pending: WireFields?
    let fetch: Bool?
}

/// The result of `enumerateItems`.
struct ItemPageResult: Decodable {
    let items: [WireItem]
    let next: String?
}

/// The result of `currentAnchor`.
struct AnchorResult: Decodable {
    let anchor: String
}

/// The result of `enumerateChanges`.
struct ChangesResult: Decodable {
    let updated: [WireItem]
    let deleted: [ItemIdentifier]
    let anchor: String
    let more: Bool?
}
