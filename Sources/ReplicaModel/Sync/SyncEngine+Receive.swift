internal import Glibc
internal import SystemPackage

extension SyncEngine {
    /// Asks the store for its changes when there is reason to, and applies all that are known.
    func receive() async {
        guard !replica.isScanning, state.withLock({ $0.disconnected == nil }) else { return }
        let isDue = state.withLock { state in
            let isDue = state.isPullWanted || state.nextPull <= replica.now()
            if isDue { state.isPullWanted = false }
            return isDue
        }
        if isDue { await pull() }
        await applyIncoming()
    }

    /// Seconds between questions to a store that signals nothing.
    private static let pullInterval = 60.0

    /// Asks the store for its changes and notes them.
    func pull() async {
        do throws(RemoteStoreError) {
            try await pullChanges()
            clearTrouble()
            state.withLock { $0.nextPull = replica.now() + Self.pullInterval }
        } catch {
            noteTrouble(error)
            state.withLock { state in
                state.isPullWanted = true
                state.nextPull = state.trouble?.retryAt ?? replica.now() + Self.pullInterval
            }
        }
    }

    /// Asks for everything after the last anchor and notes it in the database.
    private func pullChanges() async throws(RemoteStoreError) {
        while true {
            guard let anchor = replica.anchor(), store.properties.hasChangeFeed else { return try await listAnew() }
            let batch: ChangeBatch
            do throws(RemoteStoreError) {
                batch = try await store.enumerateChanges(from: anchor)
            } catch {
                guard error == .syncAnchorExpired else { throw error }
                return try await listAnew()
            }
            let changes =
                batch.updated.map { Incoming(identifier: $0.identifier, item: $0) }
                + batch.deleted.map { Incoming(identifier: $0, item: nil) }
            try replica.noteIncoming(changes, anchor: batch.anchor)
            if !batch.moreComing { return }
        }
    }

    /// Lists every folder that is listed here and compares: what is in no listing is gone, once all listings are
    /// complete (design.md §8).
    private func listAnew() async throws(RemoteStoreError) {
        let noted = try replica.lastIncoming()
        let anchor = try await store.currentAnchor()
        var seen: Set<ItemIdentifier> = []
        var changes: [Incoming] = []
        let folders = try replica.listedFolders()
        var known = try replica.knownItemsInLostFolders()
        for folder in folders {
            known.append(contentsOf: try replica.knownItems(in: folder.number))
            do throws(RemoteStoreError) {
                for item in try await wholeListing(of: folder.identifier) {
                    seen.insert(item.identifier)
                    changes.append(Incoming(identifier: item.identifier, item: item))
                }
            } catch {
                guard error == .noSuchItem(folder.identifier), folder.number != .root else { throw error }
            }
        }
        for identifier in known where !seen.contains(identifier) {
            changes.append(Incoming(identifier: identifier, item: nil))
        }
        try replica.noteIncoming(changes, anchor: anchor, replacing: noted)
    }

    /// All items of a folder, from a listing that did not fail.
    func wholeListing(of folder: ItemIdentifier) async throws(RemoteStoreError) -> [Item] {
        var items: [Item] = []
        var page: EnumerationPage?
        repeat {
            let next = try await store.enumerateItems(in: folder, from: page)
            items.append(contentsOf: next.items)
            page = next.next
        } while page != nil
        return items
    }
}
