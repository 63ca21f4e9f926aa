import PathStore
import ReplicaModel
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import S3Store

/// The promises that every store keeps, on a real server.
@Suite struct S3PromiseTests {
    @Test(arguments: [false, true])
    func keepsEveryPromise(inAFolderAndByHostName isVirtualHosted: Bool) async throws {
        let server = try S3Server.shared
        let bucket = try await server.bucket()
        try await withThrowingTaskGroup(of: Void.self) { group in
            var started = 0
            for (number, promise) in StorePromises.all.enumerated() {
                if started >= 8 { try await group.next() }
                started += 1
                group.addTask {
                    do { try await Self.check(promise, number, server, bucket, isVirtualHosted) } catch {
                        Issue.record("\(promise): \(error)")
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private static func check(
        _ promise: StorePromise, _ number: Int, _ server: S3Server, _ bucket: String, _ isVirtualHosted: Bool
    ) async throws {
        let table = try TemporaryFolder()
        // A folder of the bucket works like the whole bucket.
        let storage = try await server.storage(
            "\(bucket)/some%20folder/\(number)", server.account(isVirtualHosted: isVirtualHosted))
        let connection = try server.connection(bucket)
        let outcome: Result<Void, any Error>
        do {
            let other = BucketClient(connection: connection, base: "some folder/\(number)/")
            let subject = try await StoreSubject(other: other) {
                try PathStore(storage, folder: table.path.string, options: .alwaysListing)
            }
            outcome = .success(try await promise.check(subject))
        } catch {
            outcome = .failure(error)
        }
        storage.close()
        connection.close()
        try outcome.get()
    }
}
