import ReplicaModel
import ReplicaTestSupport
import Testing

/// Everything that the tests of a new store need.
@Suite struct ExampleStoreTests {
    @Test(arguments: StorePromises.all)
    func keepsPromise(_ promise: StorePromise) async throws {
        let service = ExampleService()
        let subject = try await StoreSubject(other: SecondStore(ExampleStore(service))) { ExampleStore(service) }
        try await promise.check(subject)
    }
}
