import ReplicaModel

/// What the file system of a store can keep and do, as far as file systems differ.
struct FileSystemAbilities: Hashable, Sendable {
    /// Whether `user.*` attributes can be set and read. If not, nothing in the store can identify a file, so an item is
    /// whatever is at its place (``PlaceKeys``): a filesystem without attributes often assigns new inode numbers at
    /// each mount (FAT, and FUSE on top of such filesystems).
    var keepsAttributes = true
    /// A mode can be set and is then read.
    var keepsModes = true
    /// Whether a modification time is kept with nanoseconds.
    var keepsTimes = true
    var keepsSymlinks = true
    var isCaseSensitive = true
    /// Names may have characters that Windows has other uses for.
    var takesAnyName = true
    /// renameat2(2) takes its flags: nothing is replaced that was not looked at.
    var renamesExactly = true

    /// The properties of a store on this file system.
    var properties: StoreProperties {
        var properties = StoreProperties()
        properties.fields = fields
        properties.keepsSymlinks = keepsSymlinks
        properties.isCaseSensitive = isCaseSensitive
        properties.keepsIdentifiers = keepsAttributes
        properties.recognizesCreates = keepsAttributes
        return properties
    }

    /// The fields that an item keeps there.
    var fields: ItemFields {
        var fields = ItemFields.all
        if !keepsAttributes { fields.subtract([.tags, .lastUsedDate, .favoriteRank, .extendedAttributes]) }
        if !keepsModes { fields.remove(.mode) }
        if !keepsTimes { fields.remove(.modificationDate) }
        return fields
    }

    /// The least by which times differ, in nanoseconds.
    var timeGrain: Int64 { keepsTimes ? 1 : 2_000_000_000 }

    /// Why a name is invalid there, as words that follow it; nil if it is valid.
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
