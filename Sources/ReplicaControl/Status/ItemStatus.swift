package import struct FoundationEssentials.Date

/// What an item is.
package enum ItemStatusKind: String, Codable, CaseIterable, Sendable {
    case file, folder, symlink
    /// A device, socket or FIFO, which works locally and is not replicated.
    case special
}

/// How much of an item is local.
package enum MaterializationState: String, Codable, CaseIterable, Sendable {
    /// All of it: a file's bytes, a folder's listing.
    case materialized
    /// Some of a file's bytes.
    case partial
    /// Nothing but its metadata.
    case dataless
}

/// An item, as `replica status PATH` shows it.
package struct ItemStatus: Codable, Equatable, Sendable {
    /// Below the domain's root.
    package var path: ControlPath
    /// The store's identifier; nil if the item was never uploaded.
    package var id: String?
    /// The item's local number: the inode number that programs see.
    package var number: UInt64
    package var kind: ItemStatusKind
    package var state: MaterializationState
    /// Bytes; 0 for a folder.
    package var size: Int64
    /// Whether it, or a folder above it, is pinned.
    package var pinned: Bool
    /// Names of the fields that are not uploaded yet; empty if nothing is pending.
    package var pending: [String]
    /// The version that the store last confirmed.
    package var version: ItemStatusVersion?
    /// The error of the last attempt, if it failed.
    package var error: ItemStatusError?

    /// An item with nothing pending, no version and no error; the rest is set by the caller.
    package init(
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

/// The store's version of an item, as the store names it; empty for a part that the item doesn't have.
package struct ItemStatusVersion: Codable, Equatable, Sendable {
    package var content: String
    package var metadata: String

    /// Both parts of a version.
    package init(content: String, metadata: String) {
        self.content = content
        self.metadata = metadata
    }
}

/// Why an item's last attempt failed, and when it is retried.
package struct ItemStatusError: Codable, Equatable, Sendable {
    /// The File Provider error's name, as in `replica resolved CODE`.
    package var code: String
    /// One line.
    package var message: String
    /// Attempts so far.
    package var attempts: Int
    /// Nil if it is not retried automatically.
    package var nextTry: Date?

    /// An item's error.
    package init(code: String, message: String, attempts: Int, nextTry: Date?) {
        self.code = code
        self.message = message
        self.attempts = attempts
        self.nextTry = nextTry
    }
}

/// An item that was removed from a list.
package struct DepartureStatus: Codable, Equatable, Sendable {
    /// Below the domain's root; nil if it was deleted.
    package var path: ControlPath?
    /// Its identifier in the store when it was added to the list; nil if it had none then.
    package var id: String?
    /// The item's local number: the inode number that programs see.
    package var number: UInt64

    /// An item that left a list.
    package init(path: ControlPath?, id: String?, number: UInt64) {
        self.path = path
        self.id = id
        self.number = number
    }
}

/// An unresolved conflict.
package struct ConflictStatus: Codable, Equatable, Sendable {
    /// The item that has the store's version; the same as `copy` if the store has none.
    package var path: ControlPath
    /// The item that has the local bytes.
    package var copy: ControlPath?
    /// When it was detected.
    package var date: Date
    /// One line about what happened on each side.
    package var detail: String

    /// A conflict between the item at `path` and its copy.
    package init(path: ControlPath, copy: ControlPath?, date: Date, detail: String) {
        self.path = path
        self.copy = copy
        self.date = date
        self.detail = detail
    }
}
