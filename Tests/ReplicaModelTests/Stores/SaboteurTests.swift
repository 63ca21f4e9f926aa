import ReplicaTestSupport
import Testing
import Threads

@testable import ReplicaModel

/// The promises must detect each store that breaks one.
@Suite struct SaboteurTests {
    @Test(arguments: Saboteur.Deed.allCases)
    func eachBrokenPromiseIsDetected(_ deed: Saboteur.Deed) async {
        for promise in StorePromises.all where !(await Self.keeps(promise, deed)) { return }
        Issue.record("\(deed) breaks no promise")
    }

    private static func keeps(_ promise: StorePromise, _ deed: Saboteur.Deed) async -> Bool {
        let store = MemoryStore()
        var properties = StoreProperties()
        if deed == .hidesPending { properties.fields.subtract(.tags) }
        store.properties = properties
        store.pageSize = 7
        store.batchSize = 3
        do {
            // The memory store reports changes immediately, so a short wait is enough.
            let opened = Locked(0)
            let subject = try await StoreSubject(other: MemoryClient(store), limit: .milliseconds(50)) {
                let isAgain = opened.withLock { count in
                    count += 1
                    return count > 1
                }
                let isBlank = isAgain && deed == .forgetsAllWhenReopened
                return Saboteur(store: isBlank ? MemoryStore() : store, deed: deed, isReopened: isAgain)
            }
            try await promise.check(subject)
            return true
        } catch {
            return false
        }
    }
}
