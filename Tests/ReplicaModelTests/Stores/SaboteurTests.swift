import ReplicaTestSupport
import Testing
import Threads

@testable import ReplicaModel

/// The promises must detect each store that breaks one.
@Suite struct SaboteurTests {
    @Test(arguments: Saboteur.Fault.allCases)
    func eachBrokenPromiseIsDetected(_ fault: Saboteur.Fault) async {
        for promise in StorePromises.all where !(await Self.keeps(promise, fault)) { return }
        Issue.record("\(fault) breaks no promise")
    }

    private static func keeps(_ promise: StorePromise, _ fault: Saboteur.Fault) async -> Bool {
        let store = MemoryStore()
        var properties = StoreProperties()
        if fault == .hidesPending { properties.fields.subtract(.tags) }
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
                let isBlank = isAgain && fault == .forgetsAllWhenReopened
                return Saboteur(store: isBlank ? MemoryStore() : store, fault: fault, isReopened: isAgain)
            }
            try await promise.check(subject)
            return true
        } catch {
            return false
        }
    }
}
