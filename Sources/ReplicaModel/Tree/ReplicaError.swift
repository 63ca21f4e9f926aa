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
