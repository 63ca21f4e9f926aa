import ReplicaModel

/// Fields by name.
struct WireFields: Codable {
    let fields: ItemFields

    private static let names: [(String, ItemFields)] = [
        ("contents", .contents), ("filename", .filename), ("parent", .parent), ("lastUsedDate", .lastUsedDate),
        ("tags", .tags), ("favoriteRank", .favoriteRank), ("modificationDate", .modificationDate), ("mode", .mode),
        ("extendedAttributes", .extendedAttributes),
    ]

    init(_ fields: ItemFields) {
        self.fields = fields
    }

    /// Unknown names are ignored.
    init(from decoder: any Decoder) throws {
        let words = try decoder.singleValueContainer().decode([String].self)
        fields = Self.names.reduce(into: []) { fields, field in
            if words.contains(field.0) { fields.insert(field.1) }
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Self.names.filter { fields.contains($0.1) }.map(\.0))
    }
}

/// The properties of the level `item`.
struct WireItemProperties: Decodable {
    let properties: StoreProperties

    private enum Key: String, CodingKey {
        case fields, keepsSymlinks, keepsTrash, fetchesRanges, hasChangeFeed, isCaseSensitive, longestName
        case keepsIdentifiers, recognizesCreates, concurrency, allowsImport
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        func flag(_ key: Key, _ usual: Bool = false) throws -> Bool {
            try container.decodeIfPresent(Bool.self, forKey: key) ?? usual
        }
        var properties = StoreProperties()
        properties.fields = [.contents, .place]
        if let fields = try container.decodeIfPresent(WireFields.self, forKey: .fields)?.fields {
            properties.fields.formUnion(fields)
        }
        properties.keepsSymlinks = try flag(.keepsSymlinks)
        properties.keepsTrash = try flag(.keepsTrash)
        properties.fetchesRanges = try flag(.fetchesRanges)
        properties.hasChangeFeed = try flag(.hasChangeFeed)
        properties.isCaseSensitive = try flag(.isCaseSensitive, true)
        properties.longestName = try container.number(.longestName, within: 1...255) ?? 255
        properties.keepsIdentifiers = try flag(.keepsIdentifiers)
        properties.recognizesCreates = try flag(.recognizesCreates)
        properties.concurrency = try container.number(.concurrency, within: 1...128) ?? 1
        properties.allowsImport = try flag(.allowsImport, true)
        self.properties = properties
    }
}
