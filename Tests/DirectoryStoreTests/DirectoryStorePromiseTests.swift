import ReplicaTestSupport
import Testing

@testable import DirectoryStore

/// One at a time: each store takes one of the user's 128 inotify instances, which others use as well.
@Suite(.serialized) struct DirectoryStorePromiseTests {
    @Test(arguments: StorePromises.all)
    func keepsPromise(_ promise: StorePromise) async throws {
        let scratch = try Scratch()
        try await promise.check(try await scratch.subject())
    }

    @Test(arguments: StorePromises.all)
    func keepsPromiseInMemory(_ promise: StorePromise) async throws {
        let scratch = try Scratch(in: "/dev/shm")
        try await promise.check(try await scratch.subject())
    }

    @Test(arguments: StorePromises.all)
    func keepsPromiseBesideASecondStore(_ promise: StorePromise) async throws {
        let scratch = try Scratch()
        let root = scratch.root
        let second = SecondStore(try DirectoryStore(path: root))
        try await promise.check(try await StoreSubject(other: second) { try DirectoryStore(path: root) })
    }
}
