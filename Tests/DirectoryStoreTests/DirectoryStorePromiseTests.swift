import ReplicaTestSupport
import Testing

@testable import DirectoryStore

/// One at a time: each store takes one of the user's 128 inotify instances, which others use as well.
@Suite(.serialized) struct DirectoryStorePromiseTests {
    @Test(arguments: StorePromises.all)
    func keepsPromise(_ promise: StorePromise) async throws {
        let scratch = try Scratch()
        try await promise.check(try scratch.subject())
    }

    @Test(arguments: StorePromises.all)
    func keepsPromiseInMemory(_ promise: StorePromise) async throws {
        let scratch = try Scratch(in: "/dev/shm")
        try await promise.check(try scratch.subject())
    }

    @Test(arguments: StorePromises.all)
    func keepsPromiseBesideASecondStore(_ promise: StorePromise) async throws {
        let scratch = try Scratch()
        let store = try DirectoryStore(path: scratch.root)
        let second = try DirectoryStore(path: scratch.root)
        try await promise.check(StoreSubject(store, other: SecondStore(second)))
    }
}
