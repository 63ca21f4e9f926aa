import Foundation
import Glibc
import PathStore
import ReplicaModel
import ReplicaTestSupport
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
        let table = "/var/tmp/replica-test-\(getpid())-s3-table-\(UInt64.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: table, withIntermediateDirectories: false)
        // A folder of the bucket works like the whole bucket.
        let storage = try await server.storage(
            "\(bucket)/some%20folder/\(number)", server.account(isVirtualHosted: isVirtualHosted))
        let connection = try server.connection(bucket)
        let outcome: Result<Void, any Error>
        do {
            let other = BucketClient(connection: connection, base: "some folder/\(number)/")
            let subject = try await StoreSubject(other: other) {
                try PathStore(storage, folder: table, options: .alwaysListing)
            }
            outcome = .success(try await promise.check(subject))
        } catch {
            outcome = .failure(error)
        }
        storage.close()
        connection.close()
        try FileManager.default.removeItem(atPath: table)
        try outcome.get()
    }
}
