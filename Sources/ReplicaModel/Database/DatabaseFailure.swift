internal import GRDB
internal import SystemPackage

/// Why a domain's database can't be read or written.
package struct DatabaseFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The cause.
    package enum Cause: Sendable, Hashable, CaseIterable {
        /// No space on the disk of the state.
        case noSpace
        /// The database is damaged, or not a database.
        case damaged
        /// Another program has locked it.
        case busy
        /// Its files can't be opened or written by this user.
        case inaccessible
        /// The disk fails to read or write.
        case failingDisk
        /// It was made by a newer version.
        case newer
        case other
    }
    package let cause: Cause
    /// SQLite's message, for the log.
    package let detail: String

    /// One line for the user.
    package var message: String {
        switch cause {
        case .noSpace: "no space is left where the domain keeps its state"
        case .damaged: "the domain's database is damaged"
        case .busy: "another program uses the domain's database"
        case .inaccessible: "the domain's database can't be opened or written"
        case .failingDisk: "the disk with the domain's state can't be read or written"
        case .newer: "the domain's database was made by a newer version of this program"
        case .other: "the domain's database can't be used"
        }
    }

    package var description: String { "\(message) (\(detail))" }

    static let newer = DatabaseFailure(cause: .newer, detail: "an unknown migration")

    /// - Parameter code: SQLite's extended result code.
    init(code: Int32, detail: String) {
        self.init(cause: Self.cause(ResultCode(rawValue: code)), detail: detail)
    }

    private init(cause: Cause, detail: String) {
        self.cause = cause
        self.detail = detail
    }

    private static func cause(_ code: ResultCode) -> Cause {
        // SQLite reports this if the file shared by readers and writers can't grow.
        if code == .SQLITE_IOERR_SHMSIZE { return .noSpace }
        switch code.primaryResultCode {
        case .SQLITE_FULL: return .noSpace
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_FORMAT: return .damaged
        case .SQLITE_BUSY, .SQLITE_LOCKED: return .busy
        case .SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH: return .inaccessible
        case .SQLITE_IOERR: return .failingDisk
        default: return .other
        }
    }
}

extension DatabaseFailure {
    /// Runs `body` and translates the errors of the database at `path`.
    static func translated<Result>(at path: String, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as DatabaseError {
            let detail = "\(error)"
            // To SQLite, an exceeded quota is a failing disk.
            if error.resultCode == .SQLITE_IOERR, FilePath(path).removingLastComponent().lacksRoom(for: smallestWrite) {
                throw DatabaseFailure(cause: .noSpace, detail: detail)
            }
            throw DatabaseFailure(code: error.extendedResultCode.rawValue, detail: detail)
        }
    }

    /// What SQLite may extend a file by at once.
    private static let smallestWrite: Int64 = 64 << 10
}

extension Errno {
    /// The errno for a program when the database or the tree fails.
    init(state error: any Error) {
        switch error {
        case let errno as Errno: self = errno
        case let error as ReplicaError: self = error.errno
        case let failure as DatabaseFailure where failure.cause == .noSpace: self = .noSpace
        default: self = .ioError
        }
    }
}
