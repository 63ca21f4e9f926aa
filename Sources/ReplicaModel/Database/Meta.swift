internal import GRDB

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
    /// The numbers of the items whose reimport has begun, while what is below them is not completely marked.
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
