import PathStore
import ReplicaTestSupport
import Testing

/// The promises that every store keeps, over each kind of storage.
@Suite struct PathStorePromiseTests {
    @Test(arguments: StorageLikeness.all)
    func keepsEveryPromise(_ likeness: StorageLikeness) async throws {
        for promise in StorePromises.all {
            let scratch = try likeness.scratch()
            do {
                try await promise.check(try await scratch.subject())
            } catch {
                Issue.record("\(promise): \(error)")
            }
        }
    }

    /// Two stores on one storage, each with its own table, like two machines.
    @Test(arguments: [StorageLikeness.atomic, .coarse, .deep])
    func keepsEveryPromiseBesideASecondStore(_ likeness: StorageLikeness) async throws {
        for promise in StorePromises.all {
            let scratch = try likeness.scratch()
            let second = SecondStore(try PathStore(scratch.storage, folder: try scratch.secondFolder()))
            do {
                try await promise.check(try await StoreSubject(other: second) { try scratch.open() })
            } catch {
                Issue.record("\(promise): \(error)")
            }
        }
    }
}
