internal import Threads

/// Failures of this computer, not of the store: of the database, of the tree, or a full disk.
extension SyncEngine {
    /// Stops all sending for a while: the database or the tree failed.
    func noteTrouble(_ trouble: LocalStateFailure) { noteFailure(code: Failure.state, trouble.message) }

    /// Nothing is sent while the disk of the domain's state is full.
    func noteFullDisk() {
        state.withLock { state in
            // It does not bring back a store that is away.
            if !state.isStoreReadable {
                state.storeFailure?.retryAt = replica.now() + 5
                return
            }
            state.storeFailure = Failure(
                code: Failure.fullDisk, message: "no space left where the domain keeps its state", attempts: 1,
                retryAt: replica.now() + 5)
        }
    }
}
