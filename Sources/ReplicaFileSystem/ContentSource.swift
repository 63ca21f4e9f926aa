public import ReplicaModel
public import SystemPackage

/// Brings what is not here yet. A ``ReplicaModel/Domain`` is one.
public protocol ContentSource: Sendable {
    /// Brings the listing of a folder that was never listed.
    /// - Throws: What the waiting program is to see: ENETDOWN, EHOSTUNREACH, EACCES.
    func list(_ folder: ItemNumber) async throws(Errno)
    /// Brings a range of a file's content, or all of it for nil.
    /// - Throws: As ``list(_:)``; ESTALE when the store's content became another meanwhile; ENOSPC.
    func hydrate(_ file: ItemNumber, range: Range<Int64>?) async throws(Errno)
}

extension Domain: ContentSource {}
