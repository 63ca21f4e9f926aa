internal import GRDB
internal import Threads

extension SyncEngine {
    /// Restores settings and orders from earlier runs.
    func restore() {
        replica.recallPins()
        takeProperties()
        replica.withTree { tree in
            tree.store.enforcesCapabilities = options.enforcesCapabilities
            tree.store.privileges = options.privileges
        }
        recordUse()
        let (reason, isImporting) = replica.standingOrders()
        let (window, held) = replica.openWindow()
        state.withLock { state in
            state.disconnected = reason.map { Disconnection(reason: $0) }
            state.isImporting = isImporting
            state.deletions.window = window
            state.deletions.held = held
        }
    }

    /// Adopts the store's properties, which may change when it is first reached.
    func takeProperties() {
        let properties = store.properties
        replica.withTree { $0.store.adopt(properties) }
    }
}

extension Replica {
    /// The state from an earlier run: why the domain is disconnected, and whether an import is running.
    func standingOrders() -> (disconnected: String?, isImporting: Bool) {
        // If the database can't be read, there is none.
        let orders = try? database.read { rows in
            (try Meta.disconnected.read(from: rows), try Meta.importing.read(from: rows) != nil)
        }
        return orders ?? (nil, false)
    }
}
