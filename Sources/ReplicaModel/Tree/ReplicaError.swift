public import SystemPackage

/// Why an operation on the replica did not happen.
public enum ReplicaError: Error, Hashable, Sendable {
    /// As the system call said.
    case errno(Errno)
    /// The folder's listing is not here: have ``Domain/list(_:)`` bring it, then ask again.
    case needsListing(ItemNumber)
    /// The file's content is not here: have ``Domain/hydrate(_:range:)`` bring it, then ask again.
    case needsContent(ItemNumber)

    /// The errno for callers that cannot wait.
    public var errno: Errno {
        switch self {
        case .errno(let errno): errno
        case .needsListing, .needsContent: .noRouteToHost
        }
    }
}

/// What the kernel is told of an item: its inode number and what stat(2) shall say.
public struct Entry: Sendable {
    public var number: ItemNumber
    /// Raised when another file took the item's place below while the kernel knew it: an inode of its own to the kernel.
    public var generation: UInt32
    public var status: FileStatus
    /// Whether the status may be cached: false while somebody writes below the kernel's sight.
    public var isSteady: Bool
}

/// Who asks.
public struct Caller: Sendable {
    public var user: UInt32
    public var group: UInt32
    /// Taken off the mode of what is created.
    public var umask: UInt16

    public init(user: UInt32, group: UInt32, umask: UInt16 = 0) {
        self.user = user
        self.group = group
        self.umask = umask
    }
}
