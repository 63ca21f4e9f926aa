package import struct FoundationEssentials.Date

/// Who serves a domain.
package struct DaemonStatus: Codable, Equatable, Sendable {
    /// The domain's name.
    package var name: String
    /// The daemon's process.
    package var pid: Int32
    /// The protocol version it speaks.
    package var `protocol`: Int
    /// Where the domain is mounted; nil where it is served without a mount.
    package var mountpoint: ControlFilePath?

    /// The daemon of the domain `name`, speaking this program's protocol version.
    package init(name: String, pid: Int32, mountpoint: ControlFilePath?) {
        self.name = name
        self.pid = pid
        self.protocol = controlProtocolVersion
        self.mountpoint = mountpoint
    }
}

/// What a domain is doing.
package enum DomainState: String, Codable, CaseIterable, Sendable {
    /// No daemon runs. What is pending stays pending.
    case stopped
    /// Its first replication after an import is under way.
    case importing
    /// Changes are on their way, in either direction.
    case syncing
    /// Nothing to do.
    case idle
    /// The store can't be reached. Everything local works; changes wait.
    case offline
    /// Disconnected by `replica disconnect` or by the store.
    case disconnected
    /// A mass deletion waits for `replica approve`.
    case held
}

/// A domain, as `replica status` shows it. Counts are nil where only a running daemon knows them.
package struct DomainStatus: Codable, Equatable, Sendable {
    package var name: String
    /// The store's URL; never a secret.
    package var store: String
    /// The state directory.
    package var directory: ControlFilePath
    /// Where it is mounted, if it is.
    package var mountpoint: ControlFilePath?
    /// A mount that was taken from the tree and is still in use.
    package var heldMount: HeldMount?
    /// The daemon's process, if one runs.
    package var pid: Int32?
    package var state: DomainState
    /// Why it is in this state, in one line, where that needs saying: offline, disconnected, held, something was not sent.
    package var reason: String?
    /// When what failed is tried again by itself; nil where nothing did, or where it waits for a person or an edit.
    package var nextTry: Date?
    /// Items with something not yet in the store.
    package var pending: Int?
    /// Items whose last try failed.
    package var errors: Int?
    /// Conflicts nobody settled yet.
    package var conflicts: Int?
    /// Items in the domain.
    package var items: Int?
    /// Bytes of all files, whether here or not.
    package var bytes: Int64?
    /// Bytes of content on this disk.
    package var materializedBytes: Int64?
    /// Devices, sockets and fifos: they work here and are not replicated.
    package var localOnly: Int?
    /// What is going on now, if anything is.
    package var progress: TransferProgress?

    /// A domain about which only this much is known; the rest is set by the caller.
    package init(name: String, store: String, directory: ControlFilePath, state: DomainState) {
        self.name = name
        self.store = store
        self.directory = directory
        self.state = state
    }

    /// Whether `status --check` should fail.
    package var needsAttention: Bool {
        errors ?? 0 > 0 || conflicts ?? 0 > 0 || [.offline, .disconnected, .held].contains(state)
    }
}

/// A mount that nobody can reach by its path any more: `umount -l` took it away, or another mount namespace has a copy.
/// It goes with the last who uses it, or when the domain is mounted again or its daemon ends.
package struct HeldMount: Codable, Equatable, Sendable {
    /// Where it was mounted.
    package var path: ControlFilePath
    /// The processes that use it, as far as they can be found.
    package var processes: [Int32]

    package init(path: ControlFilePath, processes: [Int32]) {
        self.path = path
        self.processes = processes
    }
}

/// How far a transfer, or all of them together, has come.
package struct TransferProgress: Codable, Equatable, Sendable {
    package var itemsDone: Int
    package var itemsTotal: Int
    package var bytesDone: Int64
    package var bytesTotal: Int64
    /// Mean over the last seconds.
    package var bytesPerSecond: Double
    /// Mean over the last seconds.
    package var itemsPerSecond: Double
    /// Nil where it can't be told.
    package var secondsLeft: Double?
    /// True while the totals are only what was found yet; else left out.
    package var counting: Bool?

    /// Counts so far; rates are 0 until there are some.
    package init(
        itemsDone: Int, itemsTotal: Int, bytesDone: Int64, bytesTotal: Int64, bytesPerSecond: Double = 0,
        itemsPerSecond: Double = 0, secondsLeft: Double? = nil, counting: Bool? = nil
    ) {
        self.itemsDone = itemsDone
        self.itemsTotal = itemsTotal
        self.bytesDone = bytesDone
        self.bytesTotal = bytesTotal
        self.bytesPerSecond = bytesPerSecond
        self.itemsPerSecond = itemsPerSecond
        self.secondsLeft = secondsLeft
        self.counting = counting
    }
}
