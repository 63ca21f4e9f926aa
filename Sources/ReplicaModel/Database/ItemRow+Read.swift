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

/// Single values besides the items.
enum Meta: String {
    /// The anchor from which all incoming changes were requested.
    case anchor
    /// Set after an unclean stop, until the store is listed again.
    case listsAnew
    /// `clean` after an orderly stop.
    case state
    /// The number of starts and stops of the replica; also stored in the tree, to detect an exchanged tree or database.
    case epoch
    /// The ``ScanMode`` of a comparison that has not completed.
    case scan
    /// The boot ID of the replica's last run, and the number of the mount that contained its tree.
    case boot
    /// The last round whose recorded items have reached the tree's disk.
    case durableHere
    /// The same for the store's disk.
    case durableInStore
    /// The next item number.
    case nextNumber
    /// The prefix of this replica's template identifiers.
    case templatePrefix
    /// Set during an import.
    case importing
    /// The numbers of the items whose reimport has begun and is not gathered yet.
    case reimports
    /// Why the domain is disconnected.
    case disconnected
    /// Set if the store was another one, or could not be reached, when it was last asked.
    case storeInDoubt
    /// The ``DeletionWindow``, while one is open.
    case deletionWindow

    func read(from database: Database) throws -> String? {
        try String.fetchOne(database, sql: "SELECT value FROM meta WHERE key = ?", arguments: [rawValue])
    }

    func write(_ value: String?, to database: Database) throws {
        if let value {
            try database.execute(
                sql: "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", arguments: [rawValue, value])
        } else {
            try database.execute(sql: "DELETE FROM meta WHERE key = ?", arguments: [rawValue])
        }
    }
}
