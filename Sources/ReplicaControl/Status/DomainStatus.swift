public import struct Foundation.Date

/// Who serves a domain.
public struct DaemonStatus: Codable, Equatable, Sendable {
    /// The domain's name.
    public var name: String
    /// The daemon's process.
    public var pid: Int32
    /// The protocol version it speaks.
    public var `protocol`: Int
    /// Where the domain is mounted; nil where it is served without a mount.
    public var mountpoint: ControlFilePath?

    /// The daemon of the domain `name`, speaking this program's protocol version.
    public init(name: String, pid: Int32, mountpoint: ControlFilePath?) {
        self.name = name
        self.pid = pid
        self.protocol = controlProtocolVersion
        self.mountpoint = mountpoint
    }
}

/// What a domain is doing.
public enum DomainState: String, Codable, CaseIterable, Sendable {
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
public struct DomainStatus: Codable, Equatable, Sendable {
    public var name: String
    /// The store's URL; never a secret.
    public var store: String
    /// The state directory.
    public var directory: ControlFilePath
    /// Where it is mounted, if it is.
    public var mountpoint: ControlFilePath?
    /// A mount that was taken from the tree and is still in use.
    public var heldMount: HeldMount?
    /// The daemon's process, if one runs.
    public var pid: Int32?
    public var state: DomainState
    /// Why it is in this state, in one line, where that needs saying: offline, disconnected, held, something was not sent.
    public var reason: String?
    /// When what failed is tried again by itself; nil where nothing did, or where it waits for a person or an edit.
    public var nextTry: Date?
    /// Items with something not yet in the store.
    public var pending: Int?
    /// Items whose last try failed.
    public var errors: Int?
    /// Conflicts nobody settled yet.
    public var conflicts: Int?
    /// Items in the domain.
    public var items: Int?
    /// Bytes of all files, whether here or not.
    public var bytes: Int64?
    /// Bytes of content on this disk.
    public var materializedBytes: Int64?
    /// Devices, sockets and fifos: they work here and are not replicated.
    public var localOnly: Int?
    /// What is going on now, if anything is.
    public var progress: TransferProgress?

    /// A domain about which only this much is known; the rest is set by the caller.
    public init(name: String, store: String, directory: ControlFilePath, state: DomainState) {
        self.name = name
        self.store = store
        self.directory = directory
        self.state = state
    }

    /// Whether `status --check` should fail.
    public var needsAttention: Bool {
        errors ?? 0 > 0 || conflicts ?? 0 > 0 || [.offline, .disconnected, .held].contains(state)
    }
}

/// A mount that nobody can reach by its path any more: `umount -l` took it away, or another mount namespace has a copy.
/// It goes with the last who uses it, or when the domain is mounted again or its daemon ends.
public struct HeldMount: Codable, Equatable, Sendable {
    /// Where it was mounted.
    public var path: ControlFilePath
    /// The processes that use it, as far as they can be found.
    public var processes: [Int32]

    public init(path: ControlFilePath, processes: [Int32]) {
        self.path = path
        self.processes = processes
    }
}

/// How far a transfer, or all of them together, has come.
public struct TransferProgress: Codable, Equatable, Sendable {
    public var itemsDone: Int
    public var itemsTotal: Int
    public var bytesDone: Int64
    public var bytesTotal: Int64
    /// Mean over the last seconds.
    public var bytesPerSecond: Double
    /// Mean over the last seconds.
    public var itemsPerSecond: Double
    /// Nil where it can't be told.
    public var secondsLeft: Double?
    /// True while the totals are only what was found yet; else left out.
    public var counting: Bool?

    /// Counts so far; rates are 0 until there are some.
    public init(
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
