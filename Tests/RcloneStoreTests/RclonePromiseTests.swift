import Foundation
import Glibc
import PathStore
import ReplicaModel
import ReplicaTestSupport
import Testing

@testable import RcloneStore

/// The promises that every store keeps, on remotes of the real rclone.
@Suite struct RclonePromiseTests {
    @Test(arguments: RcloneRemote.allCases)
    func keepsEveryPromise(_ remote: RcloneRemote) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            // rclone does not accept control characters in names, which one promise uses.
            let owed = StorePromises.all.filter { $0.name != "names come back byte for byte" }
            for (number, promise) in owed.enumerated() {
                if number >= 8 { try await group.next() }
                group.addTask {
                    do { try await Self.check(promise, remote) } catch {
                        Issue.record("\(promise): \(error)")
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private static func check(_ promise: StorePromise, _ remote: RcloneRemote) async throws {
        let other = try await remote.folder()
        let storage = try await other.storage()
        let table = try RcloneRemote.state()
        var options = PathStoreOptions()
        // Each request compares.
        (options.openIntervalSeconds, options.wholeIntervalSeconds) = (0, 0)
        let chosen = options
        let subject = try await StoreSubject(other: other) {
            try PathStore(storage, folder: table, options: chosen)
        }
        try await promise.check(subject)
    }
}
