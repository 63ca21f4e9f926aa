/// The engine's own state.
struct EngineState {
    var pulls = PullState()
    var deletions = DeletionState()
    var arrivals = StagedUpdates()
    var rejected = RejectedItems()
    /// Changes that could not be applied.
    var postponed = PostponedChanges()
    /// When failed items are retried before their own time.
    var earlyRetry = EarlyRetry()
    /// Why the user disconnected the domain; nil if it is connected.
    var disconnected: Disconnection?
    /// An error that concerns the whole domain, and when the store is tried again.
    var storeFailure: Failure?
    /// Whether the store reported that it is a different one, so that the user is asked.
    var isOtherStore: Bool {
        !pulls.isStoreRecognized && storeFailure?.code == RemoteStoreError.cannotSynchronize("").code
    }
    /// Whether nothing is known that keeps the store from returning what it has.
    var isStoreReadable: Bool { storeFailure?.leavesStoreReadable ?? true }
    /// An error in the reports of changes: local changes are still sent.
    var feedTrouble: Failure?
    /// How many callers wait for the store.
    var waiters = 0
    /// Whether the end of an import is still to be announced.
    var isImporting = false
    /// Reimports whose items are still being gathered.
    var reimports = 0

    /// The item in the store is invalid: it is requested again.
    /// - Parameter name: The displayed name.
    mutating func reject(_ identifier: ItemIdentifier, _ name: String) { rejected.reject(identifier, name) }

    /// The store reported the item in a valid state.
    mutating func accept(_ identifier: ItemIdentifier) {
        rejected.accept(identifier)
        postponed.remove(identifier)
    }
}
