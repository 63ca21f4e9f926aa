import CLinux
import Glibc
import ReplicaModel
import SystemPackage

/// The metadata stored in `user.*` attributes, so that any program can read it.
enum MetadataXattrs {
    /// The identifier of the template that the item was created from.
    static let template = "user.replica.template"
    private static let lastUsed = "user.replica.lastused"
    private static let favorite = "user.replica.favorite"
    private static let tags = "user.xdg.tags"
    private static let own = "user.replica."

    /// Reads the attributes into `metadata`, and the group's rights from an ACL; on a filesystem without attributes,
    /// sets nothing.
    /// - Parameter own: Whether the filesystem supports `user.*` attributes.
    static func read(from file: OpenDescriptor, into metadata: inout ItemMetadata, withOwn own: Bool) throws(Errno) {
        guard let names = try SystemCalls.attributeNames(of: file) else { return }
        if names.contains(AccessList.attribute), let value = try SystemCalls.attribute(AccessList.attribute, of: file) {
            metadata.mode = metadata.mode.map { AccessList(value)?.mode($0) ?? $0 }
        }
        guard own else { return }
        metadata.take([.tags, .lastUsedDate, .favoriteRank], from: .cleared)
        var others: [String: [UInt8]] = [:]
        for name in names where name.hasPrefix("user.") && name != template {
            guard let value = try SystemCalls.attribute(name, of: file) else { continue }
            let text = String(decoding: value, as: UTF8.self)
            switch name {
            case tags: metadata.tags = text
            case lastUsed: metadata.lastUsedDate = Timestamp(nanoseconds: Int64(text) ?? 0)
            case favorite: metadata.favoriteRank = UInt64(text) ?? 0
            default: if !name.hasPrefix(Self.own) { others[name] = value }
            }
        }
        metadata.extendedAttributes = others
    }

    /// Writes those of `fields` that are stored as attributes.
    /// - Returns: The fields for which the filesystem has no space.
    static func write(_ metadata: ItemMetadata, _ fields: ItemFields, to file: OpenDescriptor) throws(Errno)
        -> ItemFields
    {
        var refused: ItemFields = []
        // A cleared field has no attribute at all, not an empty one.
        let text = metadata.tags.flatMap { $0.isEmpty ? nil : $0 }
        try set(tags, text, .tags, fields, file, &refused)
        let used = metadata.lastUsedDate.flatMap { $0.nanoseconds == 0 ? nil : String($0.nanoseconds) }
        try set(lastUsed, used, .lastUsedDate, fields, file, &refused)
        let rank = metadata.favoriteRank.flatMap { $0 == 0 ? nil : String($0) }
        try set(favorite, rank, .favoriteRank, fields, file, &refused)
        guard fields.contains(.extendedAttributes) else { return refused }
        let wanted = (metadata.extendedAttributes ?? [:]).filter { isFree($0.key) }
        for name in try SystemCalls.attributeNames(of: file) ?? [] where isFree(name) && wanted[name] == nil {
            try SystemCalls.removeAttribute(name, of: file)
        }
        for (name, value) in wanted {
            if try !fits(name, value, file) { refused.insert(.extendedAttributes) }
        }
        return refused
    }

    private static func set(
        _ name: String, _ text: String?, _ field: ItemFields, _ fields: ItemFields, _ file: OpenDescriptor,
        _ refused: inout ItemFields
    ) throws(Errno) {
        guard fields.contains(field) else { return }
        guard let text else { return try SystemCalls.removeAttribute(name, of: file) }
        if try !fits(name, Array(text.utf8), file) { refused.insert(field) }
    }

    /// Sets an attribute. Returns false if there is no space for it, which does not mean that there is none for
    /// contents.
    private static func fits(_ name: String, _ value: [UInt8], _ file: OpenDescriptor) throws(Errno) -> Bool {
        do {
            try SystemCalls.setAttribute(name, value, of: file)
            return true
        } catch  where error.isFullDisk {
            return false
        } catch .outOfRange {
            return false
        } catch Errno(rawValue: E2BIG) {
            return false
        }
    }

    /// Whether an attribute is part of an item's `extendedAttributes`.
    private static func isFree(_ name: String) -> Bool {
        name.hasPrefix("user.") && !name.hasPrefix(own) && name != tags
    }
}
