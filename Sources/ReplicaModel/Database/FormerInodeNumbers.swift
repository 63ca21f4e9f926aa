internal import GRDB
internal import SystemPackage

/// The numbers of items whose folder was evicted: an item that is listed again gets its inode number back
/// (MODEL.md#layout).
enum FormerInodeNumbers {
    static func write(_ numbers: [ItemIdentifier: ItemNumber], to rows: Rows) throws {
        let statement = try rows.cachedStatement(
            sql: "INSERT OR REPLACE INTO former (identifier, number) VALUES (?, ?)")
        for (identifier, number) in numbers {
            try statement.execute(arguments: [identifier.rawValue, number.argument])
        }
    }

    static func areThere(in rows: Rows) throws -> Bool {
        try Bool.fetchOne(rows, sql: "SELECT EXISTS (SELECT 1 FROM former)") ?? false
    }

    fileprivate static func of(_ identifier: ItemIdentifier, in rows: Rows) throws -> ItemNumber? {
        let number = try Int64.fetchOne(
            rows, sql: "SELECT number FROM former WHERE identifier = ?", arguments: [identifier.rawValue])
        return number.map { ItemNumber(UInt64(bitPattern: $0)) }
    }
}

extension Tree {
    /// The number that an item had before its folder was evicted, unless it has been reused since.
    func formerNumber(of identifier: ItemIdentifier) throws(ReplicaError) -> ItemNumber? {
        guard items.numbers.hasFormer, let number = try reading({ try FormerInodeNumbers.of(identifier, in: $0) })
        else {
            return nil
        }
        return try takeAgain(number) ? number : nil
    }

    /// Whether an item's former number is free.
    func takeAgain(_ number: ItemNumber) throws(ReplicaError) -> Bool {
        guard items[number] == nil, items[inode: number] == nil else { return false }
        if unrecorded.keep(number) { return true }
        return try reading { try ItemRow.of(number, in: $0) } == nil
    }
}
