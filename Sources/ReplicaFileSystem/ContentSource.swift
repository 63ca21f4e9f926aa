package import ReplicaModel
package import SystemPackage

/// Fetches what is not local, and knows the store's space. Implemented by ``ReplicaModel/Domain``.
package protocol ContentSource: Sendable {
    /// Fetches the listing of a folder that was never listed.
    /// - Throws: The error for the waiting program: ENETDOWN, EHOSTUNREACH, EACCES.
    func list(_ folder: ItemNumber) async throws(Errno)
    /// Fetches a range of a file's content, or all of it for nil.
    /// - Throws: Like ``list(_:)``; ESTALE if the store's content has changed in the meantime; ENOSPC.
    func hydrate(_ file: ItemNumber, range: Range<Int64>?) async throws(Errno)
    /// Brings a file of which nothing is local up to date before a program opens it for reading. Never fails.
    func revalidate(_ file: ItemNumber) async
    /// Fetches content for a program that reads.
    /// - Parameters:
    ///   - wanted: The range to read.
    ///   - ahead: The range to fetch if it is kept.
    /// - Returns: The bytes of `wanted` up to the end of the file, if they are not kept; nil if they are local now.
    func read(
        _ file: ItemNumber, _ wanted: Range<Int64>, ahead: Range<Int64>
    ) async throws(Errno) -> UncachedBytes?
    /// The store's space as it was last reported; nil if it is not known. Never waits.
    func usage() -> StoreUsage?
}

extension Domain: ContentSource {}
