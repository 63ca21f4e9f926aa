import ReplicaModel

/// The features of a store's filesystem, as far as filesystems differ.
struct FileSystemAbilities: Hashable, Sendable {
    /// Whether `user.*` attributes can be set and read. If not, nothing in the store can identify a file, so the entry
    /// at an item's place is the item (``PlaceKeys``): a filesystem without attributes often assigns new inode numbers
    /// at each mount (FAT, and FUSE on top of such filesystems).
    var keepsAttributes = true
    /// Whether a mode can be set and read back.
    var keepsModes = true
    /// Whether modification times are stored with nanoseconds.
    var keepsTimes = true
    var keepsSymlinks = true
    var isCaseSensitive = true
    /// Whether names may contain the characters that are reserved on Windows.
    var takesAnyName = true
    /// Whether renameat2(2) supports its flags, so that no unchecked entry is replaced.
    var renamesExactly = true

    /// The properties of a store on this filesystem.
    var properties: StoreProperties {
        var properties = StoreProperties()
        properties.fields = fields
        properties.keepsSymlinks = keepsSymlinks
        properties.isCaseSensitive = isCaseSensitive
        properties.keepsIdentifiers = keepsAttributes
        properties.recognizesCreates = keepsAttributes
        return properties
    }

    /// The fields that are stored for an item.
    var fields: ItemFields {
        var fields = ItemFields.all
        if !keepsAttributes { fields.subtract([.tags, .lastUsedDate, .favoriteRank, .extendedAttributes]) }
        if !keepsModes { fields.remove(.mode) }
        if !keepsTimes { fields.remove(.modificationDate) }
        return fields
    }

    /// The smallest difference between two times, in nanoseconds.
    var timeGrain: Int64 { keepsTimes ? 1 : 2_000_000_000 }

    /// The reason why a name is invalid, worded to follow the name; nil if it is valid.
    func fault(of name: FileName) -> String? {
        guard !takesAnyName else { return nil }
        guard String(validating: name.bytes, as: UTF8.self) != nil else { return "it is not UTF-8" }
        if name.bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) { return "it has a control character" }
        let refused = name.bytes.first { Self.refused.contains($0) }
        if let refused { return "it has \"\(Character(UnicodeScalar(refused)))\"" }
        switch name.bytes.last {
        case UInt8(ascii: "."): return "it ends with a dot"
        case UInt8(ascii: " "): return "it ends with a space"
        default: return nil
        }
    }

    private static let refused = Set("\"*/:<>?\\|".utf8)
}
