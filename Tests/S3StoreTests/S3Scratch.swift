import Foundation
import Glibc
import HTTPClient
import PathStore
import ReplicaModel
import ReplicaTestSupport
import Testing

@testable import S3Store

/// A storage in a temporary bucket, another client of it, and steps on both.
struct S3Scratch: StorageScratch {
    let storage: S3Storage
    let other: BucketClient
    let bucket: String
    let server: S3Server

    /// Runs a test.
    /// - Parameter folder: The storage's folder in the bucket.
    static func run(
        _ folder: String = "", limits: TransferLimits = TransferLimits(),
        _ body: (S3Scratch) async throws -> Void
    ) async throws {
        let server = try S3Server.shared
        let bucket = try await server.bucket()
        let storage = try await server.storage("\(bucket)/\(folder)", limits: limits)
        let other = BucketClient(connection: try server.connection(bucket))
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(
                try await body(S3Scratch(storage: storage, other: other, bucket: bucket, server: server)))
        } catch {
            outcome = .failure(error)
        }
        storage.close()
        other.connection.close()
        try outcome.get()
    }

    /// Writes an object like another tool.
    func put(_ key: String, _ text: String = "", _ headers: [(name: String, value: String)] = []) async throws {
        var request = S3Request("PUT", Array(key.utf8))
        request.headers = headers
        request.body = .bytes(Array(text.utf8))
        _ = try await other.connection.send(request)
    }

    func object(_ key: String) async throws -> StoredObject? { try await other.connection.head(Array(key.utf8)) }

    /// Unfinished multipart uploads.
    func unfinishedUploads() async throws -> Int {
        var request = S3Request("GET")
        request.query = [("uploads", "")]
        let answer = try await other.connection.send(request)
        return String(decoding: answer.body, as: UTF8.self).components(separatedBy: "<UploadId>").count - 1
    }
}
