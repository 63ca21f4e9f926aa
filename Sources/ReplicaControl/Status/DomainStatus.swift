package import struct FoundationEssentials.Date

/// The activity of a domain.
package enum DomainState: String, Codable, CaseIterable, Sendable {
    /// No daemon is running. Pending changes stay pending.
    case stopped
    /// The first upload after an import is in progress.
    case importing
    /// Changes are being uploaded or downloaded.
    case syncing
    /// Nothing to do.
    case idle
    /// The store is unreachable. Everything local works; changes are queued.
    case offline
    /// Disconnected by `replica disconnect`.
    case disconnected
    /// A mass deletion is waiting for `replica approve`.
    case held
}

/// A domain, as shown by `replica status`. Counts are nil if no daemon is running.
/// Large: a field for each one of the printed status.
package struct DomainStatus: Codable, Equatable, Sendable {
    package var name: String
    /// The store's URL; never a secret.
    package var store: String
    /// The state directory.
    package var directory: ControlFilePath
    /// Where it is mounted, if it is.
    package var mountpoint: ControlFilePath?
    /// A detached mount that is still in use.
    package var heldMount: HeldMount?
    /// Where the mount of a daemon that was killed still is: programs there get errors until the domain is mounted again.
    package var deadMount: ControlFilePath?
    /// The daemon's process, if one runs.
    package var pid: Int32?
    /// The version of the daemon's program; nil without a daemon, and from one that is too old to report it.
    package var version: String?
    package var state: DomainState
    /// The reason for this state, in one line, if there is one: offline, disconnected, held, failed uploads.
    package var reason: String?
    /// The time of the next automatic retry; nil if nothing failed, or if it needs the user or an edit.
    package var nextTry: Date?
    /// Items that are not completely uploaded.
    package var pending: Int?
    /// Items whose last attempt failed.
    package var errors: Int?
    /// Unresolved conflicts.
    package var conflicts: Int?
    /// Items in the domain.
    package var items: Int?
    /// Total size of all files in bytes, local or not.
    package var bytes: Int64?
    /// Size of the local content in bytes.
    package var materializedBytes: Int64?
    /// Items that are not replicated: devices, sockets and FIFOs, and what the store can't keep or excludes.
    package var localOnly: Int?
    /// Files in `kept/` of the state directory: bytes that the store rejected, deleted or replaced by older ones.
    package var kept: Int?
    /// The current transfers, if there are any.
    package var progress: TransferProgress?

    /// A domain with the minimum known; the rest is set by the caller.
    package init(name: String, store: String, directory: ControlFilePath, state: DomainState) {
        self.name = name
        self.store = store
        self.directory = directory
        self.state = state
    }

    /// Whether `status --check` should fail.
    package var needsAttention: Bool {
        errors ?? 0 > 0 || conflicts ?? 0 > 0 || [.offline, .disconnected, .held].contains(state) || deadMount != nil
    }
}

/// A mount that is no longer reachable by its path: it was detached with `umount -l`, or is a copy in another mount namespace.
/// It ends with its last user, or when the domain is mounted again or its daemon stops.
package struct HeldMount: Codable, Equatable, Sendable {
    /// Where it was mounted.
    package var path: ControlFilePath
    /// The processes that use it, as far as they can be determined.
    package var processes: [Int32]

    package init(path: ControlFilePath, processes: [Int32]) {
        self.path = path
        self.processes = processes
    }
}
