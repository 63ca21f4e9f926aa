package import SystemPackage

/// Why an operation on the replica did not happen.
package enum ReplicaError: Error, Hashable, Sendable {
    /// The errno of a system call.
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

/// An item as the kernel is told of it: its inode number and attributes.
package struct Entry: Sendable {
    package var number: ItemNumber
    /// Increased when another file takes the item's place in the backing tree while the kernel knows it: a new inode to
    /// the kernel.
    package var generation: UInt32
    package var status: FileStatus
    /// Whether the attributes may be cached: false while somebody writes to the backing file directly.
    package var isSteady: Bool
}

/// The process that makes a call.
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
