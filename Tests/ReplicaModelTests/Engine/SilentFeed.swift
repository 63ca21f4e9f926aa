@testable import ReplicaModel

/// A store whose feed reports no changes, like a directory store for the replica's own changes, or omits some items.
struct SilentFeed: StoreWrapper {
    let store: any RemoteStore
    /// The items whose changes it does not report.
    var omits: @Sendable (ItemIdentifier) -> Bool = { _ in true }

    func enumerateChanges(from anchor: SyncAnchor) async throws(RemoteStoreError) -> ChangeBatch {
        var batch = try await store.enumerateChanges(from: anchor)
        batch.updated.removeAll { omits($0.identifier) }
        batch.deleted.removeAll(where: omits)
        return batch
    }
}
