package import SystemPackage

/// Why an operation on the replica did not happen.
package enum ReplicaError: Error, Hashable, Sendable {
    /// The errno of a system call.
    case errno(Errno)
    /// The folder is not listed: call ``Domain/list(_:)``, then retry.
    case needsListing(ItemNumber)
    /// The file's content is not local: call ``Domain/hydrate(_:range:)``, then retry.
    case needsContent(ItemNumber)

    /// The errno for callers that cannot wait.
    package var errno: Errno {
        switch self {
        case .errno(let errno): errno
        case .needsListing, .needsContent: .noRouteToHost
        }
    }
}

/// An item as reported to the kernel: its inode number and attributes.
package struct Entry: Sendable {
    package var number: ItemNumber
    /// Increased when another file takes the item's place in the backing tree while the kernel knows it: a new inode to
    /// the kernel.
    package var generation: UInt32
    package var status: FileStatus
    /// Whether the attributes may be cached: false while a program writes to the backing file directly.
    package var isSteady: Bool
}

/// The process that makes a call.
package struct Caller: Sendable {
    package var user: UInt32
    package var group: UInt32
    /// Removed from the mode of created entries (umask).
    package var umask: UInt16

    package init(user: UInt32, group: UInt32, umask: UInt16 = 0) {
        self.user = user
        self.group = group
        self.umask = umask
    }
}
