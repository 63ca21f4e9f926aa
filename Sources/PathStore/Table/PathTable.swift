internal import GRDB
internal import Glibc
internal import ReplicaModel
internal import SystemPackage

/// The known state of a storage's items, in SQLite. Safe from any thread.
final class PathTable: Sendable {
    private let queue: DatabaseQueue
    /// Distinguishes this table from a lost one, whose anchors and metadata versions are unknown here.
    let epoch: String

    /// The number of changes kept for callers with an old anchor.
    static let mostChanges: Int64 = 200_000

    /// Opens or creates the table at `path`. A table that can't be read is moved aside, and a new one is created: a
    /// listing restores everything in it.
    /// - Throws: ``RemoteStoreError/itemUnavailable(_:)``, like all its methods.
    init(path: String) throws(RemoteStoreError) {
        do {
            queue = try Self.opened(path)
        } catch let error as DatabaseError where [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode) {
            do throws(RemoteStoreError) {
                try Self.putAway(path)
                queue = try Self.worded { try Self.opened(path) }
            } catch {
                throw error
            }
        } catch {
            throw Self.failure(error)
        }
        let queue = queue
        epoch = try Self.worded {
            try queue.write { database in
                if let epoch = try String.fetchOne(database, sql: "SELECT value FROM meta WHERE key = 'epoch'") {
                    return epoch
                }
                let epoch = hexadecimal((0..<8).map { _ in UInt8.random(in: .min ... .max) })
                try database.execute(sql: "INSERT INTO meta VALUES ('epoch', ?)", arguments: [epoch])
                return epoch
            }
        }
    }

    private static func opened(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
        }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try migrations.migrate(queue)
        return queue
    }

    /// Keeps the last unreadable table for inspection.
    private static func putAway(_ path: String) throws(RemoteStoreError) {
        for part in ["", "-wal", "-shm"] {
            guard rename(path + part, path + ".unreadable" + part) == 0 || errno == ENOENT else {
                throw .itemUnavailable(
                    "the store's table is unreadable and can't be moved away: \(Errno(rawValue: errno))")
            }
        }
    }

    func read<Result>(_ body: (Database) throws -> Result) throws(RemoteStoreError) -> Result {
        try Self.worded { try queue.read(body) }
    }

    /// In one transaction.
    func write<Result>(_ body: (Database) throws -> Result) throws(RemoteStoreError) -> Result {
        try Self.worded { try queue.write(body) }
    }

    /// Closes the file; nothing can be read or written after it.
    func close() throws(RemoteStoreError) { try Self.worded { try queue.close() } }

    /// Makes everything written so far survive a power cut.
    func makeDurable() throws(RemoteStoreError) {
        do throws(Errno) { try WriteAheadLog.sync(ofDatabaseAt: queue.path) } catch {
            throw .itemUnavailable("the store's table cannot be synced: \(error)")
        }
    }

    private static func worded<Result>(_ body: () throws -> Result) throws(RemoteStoreError) -> Result {
        do { return try body() } catch { throw failure(error) }
    }

    private static func failure(_ error: any Error) -> RemoteStoreError {
        if let error = error as? RemoteStoreError { return error }
        let text = (error as? DatabaseError)?.message ?? "\(error)"
        return .itemUnavailable("the store's table cannot be used: \(text)")
    }
}
