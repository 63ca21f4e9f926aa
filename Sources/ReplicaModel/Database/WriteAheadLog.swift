internal import Glibc
package import SystemPackage

/// The log of an SQLite database in WAL mode: the most recent writes.
package enum WriteAheadLog {
    /// Makes all writes so far survive a power cut.
    /// - Parameter path: The path of the database.
    /// - Throws: The errno of the failure.
    package static func sync(ofDatabaseAt path: String) throws(Errno) {
        let log = open(path + "-wal", O_RDONLY | O_CLOEXEC)
        guard log >= 0 else {
            if errno == ENOENT { return }
            throw .last
        }
        defer { close(log) }
        guard fsync(log) == 0 else { throw .last }
    }
}
