import Foundation
import ReplicaModel

/// An item of the level `item`.
struct WireItem: Decodable, Sendable {
    let item: Item

    private enum Key: String, CodingKey {
        case id, parent, name, name64, kind, content, metadata, size, target, target64, capabilities, uploaded
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let kind = try container.decode(WireKind.self, forKey: .kind).kind
        let name = try WireText(container, .name, .name64)
        var item = Item(
            identifier: try container.decode(ItemIdentifier.self, forKey: .id),
            parent: try container.decode(ItemIdentifier.self, forKey: .parent),
            filename: FileName(bytes: name?.bytes ?? []), kind: kind,
            version: ItemVersion(
                content: try container.decodeIfPresent(String.self, forKey: .content) ?? "",
                metadata: try container.decodeIfPresent(String.self, forKey: .metadata) ?? ""))
        if kind == .file { item.size = try container.decode(Int64.self, forKey: .size) }
        if kind == .symlink { item.target = try WireText(container, .target, .target64)?.bytes }
        item.metadata = try WireMetadata(from: decoder).metadata
        if let names = try container.decodeIfPresent([String].self, forKey: .capabilities) {
            item.capabilities = Capabilities(names.compactMap { Self.capabilities[$0] })
        }
        item.isUploaded = try container.decodeIfPresent(Bool.self, forKey: .uploaded) ?? true
        self.item = item
    }

    private static let capabilities: [String: Capabilities] = [
        "reading": .reading, "writing": .writing, "reparenting": .reparenting, "renaming": .renaming,
        "trashing": .trashing, "deleting": .deleting,
    ]
}

/// An item's kind by its name on the wire.
struct WireKind: Codable {
    let kind: ItemKind

    init(_ kind: ItemKind) {
        self.kind = kind
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        switch try container.decode(String.self) {
        case "file": kind = .file
        case "folder": kind = .folder
        case "symlink": kind = .symlink
        default: throw DecodingError.dataCorruptedError(in: container, debugDescription: "an unknown kind")
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch kind {
        case .file: try container.encode("file")
        case .folder: try container.encode("folder")
        case .symlink: try container.encode("symlink")
        }
    }
}

/// An item's metadata.
struct WireMetadata: Codable {
    var metadata: ItemMetadata

    private enum Key: String, CodingKey {
        case mode, modificationDate, lastUsedDate, tags, favoriteRank, extendedAttributes
    }

    init(_ metadata: ItemMetadata) {
        self.metadata = metadata
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        func date(_ key: Key) throws -> Timestamp? {
            guard let time = try container.decodeIfPresent([Int64].self, forKey: key) else { return nil }
            guard let date = Timestamp(wire: time) else {
                throw DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: "no time")
            }
            return date
        }
        metadata = ItemMetadata()
        metadata.mode = try container.number(.mode, within: 0...0o7777).map { UInt16($0) }
        metadata.modificationDate = try date(.modificationDate)
        metadata.lastUsedDate = try date(.lastUsedDate)
        metadata.tags = try container.decodeIfPresent(String.self, forKey: .tags)
        metadata.favoriteRank = try container.decodeIfPresent(UInt64.self, forKey: .favoriteRank)
        // Data is base64 in JSON.
        let attributes = try container.decodeIfPresent([String: Data].self, forKey: .extendedAttributes)
        metadata.extendedAttributes = attributes?.mapValues { Array($0) }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encodeIfPresent(metadata.mode, forKey: .mode)
        try container.encodeIfPresent(metadata.modificationDate?.wire, forKey: .modificationDate)
        try container.encodeIfPresent(metadata.lastUsedDate?.wire, forKey: .lastUsedDate)
        try container.encodeIfPresent(metadata.tags, forKey: .tags)
        try container.encodeIfPresent(metadata.favoriteRank, forKey: .favoriteRank)
        try container.encodeIfPresent(
            metadata.extendedAttributes?.mapValues { Data($0) }, forKey: .extendedAttributes)
    }
}
