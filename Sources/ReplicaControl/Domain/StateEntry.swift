/// The names in a domain's state that both programs know; ReplicaModel's ``StateFolders`` has the same names
/// (`StateEntryTests`).
package enum StateEntry: String, CaseIterable, Sendable {
    case tree, staging, kept, deleted
    case record = "domain.json"
    case database = "replica.db"
    case mark, lock, removal
    case log = "daemon.log"
    /// The log before the present one.
    case previousLog = "daemon.log.1"
}
