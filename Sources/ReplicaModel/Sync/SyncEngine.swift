internal import SystemPackage

/// Keeps tree and store in step.
final class SyncEngine: Sendable {
    func list(_ folder: ItemNumber) async throws(Errno) { throw .notSupported }
    func hydrate(_ file: ItemNumber, range: Range<Int64>?) async throws(Errno) { throw .notSupported }
}
