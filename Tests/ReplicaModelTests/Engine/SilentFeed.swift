@testable import ReplicaModel

/// A store whose feed tells of no change, as a directory store's doesn't of what the replica itself did, or not of some items.
struct SilentFeed: StoreWrapper {
    let store: any RemoteStore
    /// The items whose changes it does not tell.
    var omits: @Sendable (ItemIdentifier) -> Bool = { _ in true }

    func pass<Result: Sendable>(
        _ method: StoreMethod, _ identifier: ItemIdentifier?, hasContents: Bool,
        _ body: () async throws(RemoteStoreError) -> Result
    ) async throws(RemoteStoreError) -> Result { try await body() }

    func enumerateChanges(from anchor: SyncAnchor) async throws(RemoteStoreError) -> ChangeBatch {
        var batch = try await store.enumerateChanges(from: anchor)
        batch.updated.removeAll { omits($0.identifier) }
        batch.deleted.removeAll(where: omits)
        return batch
    }
}
