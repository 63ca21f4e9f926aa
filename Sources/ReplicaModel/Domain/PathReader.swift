internal import GRDB

/// Finds the paths of rows, looking up each folder once.
struct PathReader {
    private var known: [ItemNumber: (path: [FileName], isPinned: Bool)] = [.root: ([], false)]

    /// The path of a row and whether it is kept here.
    mutating func path(of row: ItemRow, in rows: Rows) throws -> ([FileName], Bool) {
        let isGone = row.flags.contains(.deleted)
        let parent = isGone ? row.base?.parent ?? row.sent?.parent ?? .root : ItemNumber(row.parent)
        guard row.number != ItemNumber.root.rawValue else { return ([], row.pin == .pinned) }
        let above = try folder(parent, in: rows, depth: 0)
        let name = isGone ? row.base?.name ?? row.name : row.name
        return (above.path + [name], row.pin == .inherited ? above.isPinned : row.pin == .pinned)
    }

    private mutating func folder(
        _ number: ItemNumber, in rows: Rows, depth: Int
    ) throws -> (path: [FileName], isPinned: Bool) {
        if number != .root, let known = known[number] { return known }
        // A database that is behind the tree may contain a cycle for a moment.
        guard depth < 4096, let row = try ItemRow.of(number, in: rows) else { return ([], false) }
        if known.count > Self.mostKnown { known.removeAll() }
        let found: (path: [FileName], isPinned: Bool)
        if number == .root {
            found = ([], row.pin == .pinned)
        } else {
            let above = try folder(ItemNumber(row.parent), in: rows, depth: depth + 1)
            found = (above.path + [row.name], row.pin == .inherited ? above.isPinned : row.pin == .pinned)
        }
        known[number] = found
        return found
    }

    private static let mostKnown = 10_000
}
