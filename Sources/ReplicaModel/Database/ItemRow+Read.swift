internal import GRDB

extension ItemRow {
    /// The rows of the entries of `folder`, except deleted ones.
    static func children(of folder: ItemNumber, in database: Database) throws -> [ItemRow] {
        try all("parent = ? AND \(RowCondition.isThere)", [folder.argument], database)
    }

    static func of(_ number: ItemNumber, in database: Database) throws -> ItemRow? {
        try all("number = ?", [number.argument], database).first
    }

    static func of(_ identifier: ItemIdentifier, in database: Database) throws -> ItemRow? {
        // Most of the requested items are new: finding that out takes a quarter of the time of reading a row.
        let statement = try database.cachedStatement(sql: "SELECT number FROM item WHERE identifier = ?")
        let number = try Int64.fetchOne(statement, arguments: [identifier.rawValue])
        return try number.flatMap { try of(ItemNumber(UInt64(bitPattern: $0)), in: database) }
    }

    /// The rows whose file last had this inode number.
    static func withInode(_ inode: UInt64, in database: Database) throws -> [ItemRow] {
        try all("inode = ? AND \(RowCondition.isThere)", [Int64(bitPattern: inode)], database)
    }

    /// The same for deleted items.
    static func deleted(withInode inode: UInt64, in database: Database) throws -> [ItemRow] {
        try all("inode = ? AND flags & \(flags: .deleted) = \(flags: .deleted)", [Int64(bitPattern: inode)], database)
    }

    /// The rows of other names of the file with this inode number.
    static func withOther(inodeNumber number: ItemNumber, in database: Database) throws -> [ItemRow] {
        try all("inodeNumber = ? AND inodeNumber != number AND \(RowCondition.isThere)", [number.argument], database)
    }

    /// Everything that is not sent yet, including deletions.
    static func pending(in database: Database) throws -> [ItemRow] {
        try all(RowCondition.mayBePending, [], database)
    }

    private static func all(
        _ condition: String, _ arguments: StatementArguments, _ database: Database
    ) throws -> [ItemRow] {
        let statement = try database.cachedStatement(sql: "SELECT * FROM item WHERE \(condition)")
        let rows = try Row.fetchCursor(statement, arguments: arguments)
        var found: [ItemRow] = []
        while let row = try rows.next() { found.append(ItemRow(row)) }
        return found
    }
}

extension ItemNumber {
    /// The number as an SQLite argument.
    var argument: Int64 { Int64(bitPattern: rawValue) }
}
