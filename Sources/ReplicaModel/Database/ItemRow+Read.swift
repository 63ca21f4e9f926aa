internal import GRDB

extension ItemRow {
    /// The rows of the entries of `folder`, deleted ones not.
    static func children(of folder: ItemNumber, in database: Database) throws -> [ItemRow] {
        try all("parent = ? AND flags & 1 = 0", [folder.argument], database)
    }

    static func of(_ number: ItemNumber, in database: Database) throws -> ItemRow? {
        try all("number = ?", [number.argument], database).first
    }

    static func of(_ identifier: ItemIdentifier, in database: Database) throws -> ItemRow? {
        // Most that are asked for are new: to find that out costs a quarter of what a row costs.
        let statement = try database.cachedStatement(sql: "SELECT number FROM item WHERE identifier = ?")
        let number = try Int64.fetchOne(statement, arguments: [identifier.rawValue])
        return try number.flatMap { try of(ItemNumber(UInt64(bitPattern: $0)), in: database) }
    }

    /// The rows whose file had this inode number when last looked at.
    static func withInode(_ inode: UInt64, in database: Database) throws -> [ItemRow] {
        try all("inode = ? AND flags & 1 = 0", [Int64(bitPattern: inode)], database)
    }

    /// The same of what was deleted.
    static func deleted(withInode inode: UInt64, in database: Database) throws -> [ItemRow] {
        try all("inode = ? AND flags & 1 = 1", [Int64(bitPattern: inode)], database)
    }

    /// The rows of other names of the file that has this inode number.
    static func withOther(inodeNumber number: ItemNumber, in database: Database) throws -> [ItemRow] {
        try all("shown = ? AND shown != number AND flags & 1 = 0", [number.argument], database)
    }

    /// Everything that is not sent yet, including deletions.
    static func pending(in database: Database) throws -> [ItemRow] {
        try all(
            "dirty != 0 OR flags & 1057 != 0 OR placeName IS NOT NULL OR sentName IS NOT NULL", [], database)
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
    /// The number as the database takes it.
    var argument: Int64 { Int64(bitPattern: rawValue) }
}

/// Single values beside the items.
enum Meta: String {
    /// The anchor that all incoming changes were asked from.
    case anchor
    /// Set after an unclean stop, until the store is listed anew.
    case listsAnew
    /// `clean` after an orderly stop.
    case state
    /// How often the replica was started and stopped; also in the tree, so that an exchanged tree or database shows.
    case epoch
    /// The ``ScanMode`` of a comparison that has not come to its end.
    case scan
    /// The boot in which the replica last ran, and the number of the mount that its tree was in.
    case boot
    /// The last round whose items are on the disk of the tree, as they are recorded.
    case durableHere
    /// The same of the store's disk.
    case durableInStore
    /// The next item number.
    case nextNumber
    /// The prefix of this replica's template identifiers.
    case templatePrefix
    /// Set while an import goes on.
    case importing
    /// The numbers of the items of reimports that were begun and not gathered.
    case reimports
    /// Why the domain is disconnected.
    case disconnected
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
