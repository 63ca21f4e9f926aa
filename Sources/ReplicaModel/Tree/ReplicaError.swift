package import SystemPackage

/// Why an operation on the replica did not happen.
package enum ReplicaError: Error, Hashable, Sendable {
    /// As the system call said.
    case errno(Errno)
    /// The folder's listing is not here: have ``Domain/list(_:)`` bring it, then ask again.
    case needsListing(ItemNumber)
    /// The file's content is not here: have ``Domain/hydrate(_:range:)`` bring it, then ask again.
    case needsContent(ItemNumber)

    /// The errno for callers that cannot wait.
    package var errno: Errno {
        switch self {
        case .errno(let errno): errno
        case .needsListing, .needsContent: .noRouteToHost
        }
    }
}

/// What the kernel is told of an item: its inode number and what stat(2) shall say.
package struct Entry: Sendable {
    package var number: ItemNumber
    /// Raised when another file took the item's place below while the kernel knew it: an inode of its own to the kernel.
    package var generation: UInt32
    package var status: FileStatus
    /// Whether the status may be cached: false while somebody writes below the kernel's sight.
    package var isSteady: Bool
}

/// Who asks.
package struct Caller: Sendable {
    package var user: UInt32
    package var group: UInt32
    /// Taken off the mode of what is created.
    package var umask: UInt16

    package init(user: UInt32, group: UInt32, umask: UInt16 = 0) {
        self.user = user
        self.group = group
        self.umask = umask
    }
}
