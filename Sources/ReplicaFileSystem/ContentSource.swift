package import ReplicaModel
package import SystemPackage

/// Brings what is not here yet. A ``ReplicaModel/Domain`` is one.
package protocol ContentSource: Sendable {
    /// Brings the listing of a folder that was never listed.
    /// - Throws: What the waiting program is to see: ENETDOWN, EHOSTUNREACH, EACCES.
    func list(_ folder: ItemNumber) async throws(Errno)
    /// Brings a range of a file's content, or all of it for nil.
    /// - Throws: As ``list(_:)``; ESTALE when the store's content became another meanwhile; ENOSPC.
    func hydrate(_ file: ItemNumber, range: Range<Int64>?) async throws(Errno)
    /// Brings content for a program that reads.
    /// - Parameters:
    ///   - wanted: What is read.
    ///   - ahead: What to bring, as far as it is kept.
    /// - Returns: The bytes of `wanted`, as far as the file has them, when they are not kept; nil when they are here.
    func read(
        _ file: ItemNumber, _ wanted: Range<Int64>, ahead: Range<Int64>
    ) async throws(Errno) -> PassingBytes?
}

extension Domain: ContentSource {}
