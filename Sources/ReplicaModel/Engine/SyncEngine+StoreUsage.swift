internal import Threads

/// The store's space as it was last reported, and when it was requested.
struct KnownUsage {
    var usage: StoreUsage?
    /// When it was last requested, in seconds since 1970.
    var asked = -Double.infinity
}

/// statfs(2) never waits for the store: it returns the last reported numbers, and has them requested again.
extension SyncEngine {
    /// How old the numbers may be before a call of statfs(2) has them requested again, in seconds.
    private static let freshSeconds = 60.0
    /// How old they may be before they are requested without such a call, in seconds.
    static let longestSeconds = 3_600.0

    /// The store's space as it was last reported; nil if it is not known. Never waits.
    func usage() -> StoreUsage? {
        askForUsage(olderThan: Self.freshSeconds)
        return knownUsage.withLock { $0.usage }
    }

    /// Has the store's space requested in the background if it was not requested recently.
    /// - Parameter age: In seconds.
    func askForUsage(olderThan age: Double) {
        let now = replica.now()
        let isDue = knownUsage.withLock { known in
            // The clock may have been set back.
            guard now - known.asked >= age || now < known.asked else { return false }
            known.asked = now
            return true
        }
        if isDue { usageRequests.continuation.yield() }
    }

    /// Requests the store's space whenever that is wanted, until the task is cancelled.
    func runUsage() async {
        for await _ in usageRequests.stream { await refreshUsage() }
    }

    /// Requests the store's space. If there is no answer, the last one stays.
    func refreshUsage() async {
        // A store that is not known to be the right one gets no calls. As soon as it is, it is asked.
        // One that has failed is asked for its changes first, at its intervals.
        guard pause.left == 0, isStoreAnswering else {
            return knownUsage.withLock { $0.asked = -.infinity }
        }
        guard case .success(let usage) = await reported() else { return }
        knownUsage.withLock { $0.usage = usage }
    }

    private func reported() async -> Result<StoreUsage?, RemoteStoreError> {
        do throws(RemoteStoreError) { return .success(try await store.usage()) } catch { return .failure(error) }
    }
}
