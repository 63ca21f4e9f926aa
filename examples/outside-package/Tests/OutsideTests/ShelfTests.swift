import ReplicaTestSupport
import Shelf
import Testing

/// Holds the store to the promises that every store must keep.
@Suite struct ShelfTests {
    @Test(arguments: StorePromises.all)
    func keepsPromise(_ promise: StorePromise) async throws {
        let shelf = Shelf()
        try await promise.check(try await StoreSubject(other: SecondStore(ShelfStore(shelf))) { ShelfStore(shelf) })
    }
}
