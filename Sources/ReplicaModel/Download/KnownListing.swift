internal import Foundation
internal import GRDB

/// The contents of a folder in the store when both sides were last in sync, for comparison with a new listing: of a
/// million items only the few that differ are noted.
struct KnownListing {
    private let folder: ItemIdentifier
    /// The items that the new listing has not contained so far.
    private var states: [ItemIdentifier: KnownState] = [:]

    fileprivate init(of folder: ItemNumber, _ identifier: ItemIdentifier, in rows: Rows) throws {
        self.folder = identifier
        let statement = try rows.cachedStatement(sql: KnownState.query)
        let found = try Row.fetchCursor(statement, arguments: [folder.argument])
        while let row = try found.next() {
            let identifier = ItemIdentifier(row["identifier"])
            if identifier != .root { states[identifier] = KnownState(row) }
        }
    }

    /// The known items that are not in the new listing so far.
    var missing: some Sequence<ItemIdentifier> { states.keys }

    /// Compares an item of the new listing.
    /// - Returns: Whether it is unchanged.
    mutating func compare(_ item: Item) -> Bool {
        guard let state = states.removeValue(forKey: item.identifier) else { return false }
        return item.parent == folder && state.isQuiet && state.isState(of: item)
    }
}

/// An item's base, and whether there is nothing else to compare.
private struct KnownState {
    static let query = """
        SELECT identifier, kind, baseName, baseContent, baseMetadata, baseSize, capabilities, uploaded,
            dirty = 0 AND flags = 0 AND errorCode IS NULL AND sentName IS NULL AND placeName IS NULL AS quiet
        FROM item WHERE baseParent = ?
        """

    var kind: UInt8
    var name: [UInt8]
    var version: ItemVersion
    var size: Int64
    var capabilities: Capabilities
    var isUploaded: Bool
    /// Whether the item has no local changes and no unanswered calls.
    var isQuiet: Bool

    init(_ row: Row) {
        kind = row["kind"]
        name = [UInt8](row["baseName"] as Data)
        version = ItemVersion(content: row["baseContent"], metadata: row["baseMetadata"])
        size = row["baseSize"]
        capabilities = Capabilities(rawValue: row["capabilities"])
        isUploaded = row["uploaded"]
        isQuiet = row["quiet"]
    }

    func isState(of item: Item) -> Bool {
        kind == item.kind.rawValue && name == item.filename.bytes && version == item.version && size == item.size
            && capabilities == item.capabilities && isUploaded == item.isUploaded
    }
}

extension Replica {
    /// The contents of a folder in the store when both sides were last in sync.
    func knownListing(of folder: ItemNumber, _ identifier: ItemIdentifier) throws(LocalStateFailure) -> KnownListing {
        do {
            return try database.read { try KnownListing(of: folder, identifier, in: $0) }
        } catch {
            throw .ofDatabase("read", error)
        }
    }
}
