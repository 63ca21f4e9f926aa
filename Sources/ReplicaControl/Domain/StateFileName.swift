import Glibc
package import SystemPackage

/// The names in a domain's state that both programs know; ReplicaModel's ``StateFolders`` has the same names
/// (`StateFileNameTests`).
package enum StateFileName: String, CaseIterable, Sendable {
    case tree, staging, kept, deleted
    case record = "domain.json"
    case database = "replica.db"
    case mark, lock, removal, reserve
    case log = "daemon.log"
    /// The log before the present one.
    case previousLog = "daemon.log.1"

    /// Whether a folder is the state of a domain of this user without its `domain.json`.
    package static func isWithoutRecord(_ state: FilePath) -> Bool {
        func isThere(_ entry: StateFileName) -> Bool { access(state.appending(entry.rawValue).string, F_OK) == 0 }
        guard isThere(.tree), isThere(.database), isThere(.mark), !isThere(.record) else { return false }
        var status = stat()
        return errno == ENOENT && stat(state.string, &status) == 0 && status.st_uid == geteuid()
    }
}
