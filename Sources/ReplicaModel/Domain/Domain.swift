internal import Logging
public import SystemPackage

/// One remote store and one local replica of it, in step as well as the network allows.
public final class Domain: Sendable {
    public let replica: Replica
    let engine: SyncEngine
    let store: any RemoteStore

    init(replica: Replica, engine: SyncEngine, store: any RemoteStore) {
        self.replica = replica
        self.engine = engine
        self.store = store
    }

    /// Brings the listing of a folder that was never listed. Waits for the store, like the first listing must.
    /// - Throws: ENETDOWN when disconnected, EHOSTUNREACH when the store does not answer, EACCES without a login.
    public func list(_ folder: ItemNumber) async throws(Errno) {
        try await engine.list(folder)
    }

    /// Brings a range of a file's content, or all of it for nil. Readers of the same bytes share one fetch.
    /// - Throws: As ``list(_:)``; ESTALE when the store's content became another meanwhile; ENOSPC.
    public func hydrate(_ file: ItemNumber, range: Range<Int64>?) async throws(Errno) {
        try await engine.hydrate(file, range: range)
    }
}
