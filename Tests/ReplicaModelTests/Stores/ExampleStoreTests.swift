import ReplicaModel
import ReplicaTestSupport
import Testing

/// All that a new store's tests need.
@Suite struct ExampleStoreTests {
    @Test(arguments: StorePromises.all)
    func keepsPromise(_ promise: StorePromise) async throws {
        let service = ExampleService()
        try await promise.check(
            StoreSubject(ExampleStore(service), other: SecondStore(ExampleStore(service))))
    }
}
