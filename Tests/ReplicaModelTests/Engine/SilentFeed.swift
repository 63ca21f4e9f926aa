@testable import ReplicaModel

/// A store whose feed tells of no change, as a directory store's doesn't of what the replica itself did.
struct SilentFeed: StoreWrapper {
    let store: any RemoteStore

    func pass<Result: Sendable>(
        _ method: StoreMethod, _ identifier: ItemIdentifier?, hasContents: Bool,
        _ body: () async throws(RemoteStoreError) -> Result
    ) async throws(RemoteStoreError) -> Result { try await body() }

    func enumerateChanges(from anchor: SyncAnchor) async throws(RemoteStoreError) -> ChangeBatch {
        ChangeBatch(updated: [], deleted: [], anchor: try await store.currentAnchor())
    }
}
