internal import Glibc
package import SystemPackage

/// The log of an SQLite database in WAL mode: what was written lately.
package enum WriteAheadLog {
    /// Makes everything written so far survive a power cut.
    /// - Parameter path: The database's.
    /// - Throws: Why not, as an errno.
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
