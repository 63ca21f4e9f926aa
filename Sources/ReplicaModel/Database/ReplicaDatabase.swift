internal import GRDB
internal import SystemPackage

/// A transaction.
typealias Rows = Database

/// The state of the tree, in SQLite. The tree itself is authoritative; the database may be behind it.
///
/// Thread-safe; never called under the tree's lock except to load a folder.
final class ReplicaDatabase: Sendable {
    private let queue: DatabasePool

    /// Opens or creates the database at `path`.
    /// - Throws: A ``DatabaseFailure``.
    init(path: String) throws {
        var configuration = Configuration()
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA synchronous = NORMAL")
            // The triggers of the counts also have to run for rows that are replaced.
            try database.execute(sql: "PRAGMA recursive_triggers = ON")
            // The log is emptied every 16 MiB instead of 4: it takes two syncs, and all writers wait for them.
            try database.execute(sql: "PRAGMA wal_autocheckpoint = 4000")
        }
        queue = try DatabaseFailure.translated(at: path) { [configuration] in
            let queue = try DatabasePool(path: path, configuration: configuration)
            if try queue.read(Self.migrations.hasBeenSuperseded) { throw DatabaseFailure.newer }
            try Self.migrations.migrate(queue)
            return queue
        }
    }

    /// Reads in one transaction.
    /// - Throws: A ``DatabaseFailure``, or the errors of `body`.
    func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try DatabaseFailure.translated(at: queue.path) { try queue.unsafeRead(body) }
    }

    /// Writes in one transaction.
    /// - Throws: A ``DatabaseFailure``, or the errors of `body`.
    func write<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try DatabaseFailure.translated(at: queue.path) { try queue.write(body) }
    }

    /// Makes all writes so far survive a power cut: they are in the log beside the database, or were synced into the
    /// database when the log was last emptied. A checkpoint would fail while others read.
    func makeDurable() throws {
        try WriteAheadLog.sync(ofDatabaseAt: queue.path)
    }

    /// Closes the database; nothing can be read or written afterwards.
    func close() throws {
        try queue.close()
    }
}
