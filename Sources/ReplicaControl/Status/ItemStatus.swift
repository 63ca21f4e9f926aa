public import struct Foundation.Date

/// What an item is.
public enum ItemStatusKind: String, Codable, CaseIterable, Sendable {
    case file, folder, symlink
    /// A device, socket or fifo: works here, is not replicated.
    case special
}

/// How much of an item is on this disk.
public enum MaterializationState: String, Codable, CaseIterable, Sendable {
    /// All of it: a file's bytes, a folder's listing.
    case materialized
    /// Some of a file's bytes.
    case partial
    /// Nothing but its metadata.
    case dataless
}

/// An item, as `replica status PATH` shows it.
public struct ItemStatus: Codable, Equatable, Sendable {
    /// Below the domain's root.
    public var path: ControlPath
    /// The store's identifier; nil while the item was never sent.
    public var id: String?
    /// The item's number here: the inode number programs see.
    public var number: UInt64
    public var kind: ItemStatusKind
    public var state: MaterializationState
    /// Bytes; 0 for a folder.
    public var size: Int64
    /// Whether it, or a folder above it, is pinned.
    public var pinned: Bool
    /// Names of the fields not yet in the store; empty when nothing is pending.
    public var pending: [String]
    /// The version that the store last confirmed.
    public var version: ItemStatusVersion?
    /// The last try's error, if that failed.
    public var error: ItemStatusError?

    /// An item with nothing pending, no version and no error; the rest is set by the caller.
    public init(
        path: ControlPath, id: String?, number: UInt64, kind: ItemStatusKind, state: MaterializationState, size: Int64
    ) {
        self.path = path
        self.id = id
        self.number = number
        self.kind = kind
        self.state = state
        self.size = size
        pinned = false
        pending = []
    }
}

/// The store's version of an item, in a form for people: text, or hexadecimal digits.
public struct ItemStatusVersion: Codable, Equatable, Sendable {
    public var content: String
    public var metadata: String

    /// Both parts of a version.
    public init(content: String, metadata: String) {
        self.content = content
        self.metadata = metadata
    }
}

/// Why an item's last try failed and when the next one comes.
public struct ItemStatusError: Codable, Equatable, Sendable {
    /// The File Provider error's name, as in `replica resolved CODE`.
    public var code: String
    /// One line.
    public var message: String
    /// Tries so far.
    public var attempts: Int
    /// Nil where it waits for something else than time.
    public var nextTry: Date?

    /// An item's error.
    public init(code: String, message: String, attempts: Int, nextTry: Date?) {
        self.code = code
        self.message = message
        self.attempts = attempts
        self.nextTry = nextTry
    }
}

/// An item that is in a list no longer.
public struct DepartureStatus: Codable, Equatable, Sendable {
    /// Below the domain's root; nil when it is gone.
    public var path: ControlPath?
    /// What the store called it when it came into the list; nil when it had no name for it then.
    public var id: String?
    /// The item's number here: the inode number programs see.
    public var number: UInt64

    /// What left a list.
    public init(path: ControlPath?, id: String?, number: UInt64) {
        self.path = path
        self.id = id
        self.number = number
    }
}

/// A conflict nobody settled yet.
public struct ConflictStatus: Codable, Equatable, Sendable {
    /// The item that has the store's version.
    public var path: ControlPath
    /// The item that has the local bytes.
    public var copy: ControlPath?
    /// When it was found.
    public var date: Date
    /// One line: what happened on either side.
    public var detail: String

    /// A conflict between the item at `path` and its copy.
    public init(path: ControlPath, copy: ControlPath?, date: Date, detail: String) {
        self.path = path
        self.copy = copy
        self.date = date
        self.detail = detail
    }
}
