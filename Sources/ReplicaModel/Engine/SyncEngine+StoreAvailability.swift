internal import Threads

extension SyncEngine {
    /// Whether the domain is connected (statement 25), and it is the right store, which answers.
    var mayCallStore: Bool {
        let isReached = state.withLock {
            $0.pulls.isStoreRecognized && $0.storeFailure == nil && $0.disconnected == nil
        }
        return isReached && !callTimeouts.hasAbandonedCalls
    }

    /// Whether it is the right store, and nothing is known that keeps it from returning what it has.
    var isStoreAnswering: Bool {
        state.withLock { $0.pulls.isStoreRecognized && $0.disconnected == nil && $0.isStoreReadable }
    }
}
