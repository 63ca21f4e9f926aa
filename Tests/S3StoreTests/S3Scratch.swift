import Foundation
import Glibc
import PathStore
import ReplicaModel
import ReplicaTestSupport
import Testing

@testable import S3Store

/// A storage in a bucket of its own, another client of that, and steps on both.
struct S3Scratch: Sendable {
    let storage: S3Storage
    let other: BucketClient
    let bucket: String
    let server: S3Server

    /// Runs a test.
    /// - Parameter folder: The folder of the bucket that the storage is.
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

    func path(_ text: String) -> StoragePath { StoragePath(text.split(separator: "/").map { FileName(String($0)) }) }

    @discardableResult
    func write(
        _ path: String, _ content: [UInt8], _ attributes: PathAttributes = PathAttributes(),
        guard condition: WriteGuard = .absent
    ) async throws -> PathEntry {
        let outcome = try await ItemContents.with(content) { contents async throws(RemoteStoreError) in
            do throws(PathStorageError) {
                return Result<PathEntry, PathStorageError>.success(
                    try await storage.write(
                        self.path(path), contents: contents, attributes: attributes, guard: condition))
            } catch {
                return .failure(error)
            }
        }
        return try outcome.get()
    }

    @discardableResult
    func write(
        _ path: String, _ text: String, _ attributes: PathAttributes = PathAttributes(),
        guard condition: WriteGuard = .absent
    ) async throws -> PathEntry {
        try await write(path, Array(text.utf8), attributes, guard: condition)
    }

    func folder(_ path: String, mode: UInt16? = nil) async throws {
        _ = try await storage.make(self.path(path), kind: .folder, attributes: PathAttributes(mode: mode))
    }

    /// The error of making something that can't be made.
    func makeFails(_ path: String, _ kind: PathKind) async throws -> PathStorageError {
        try await failure {
            _ = try await storage.make(self.path(path), kind: kind, attributes: PathAttributes())
        }
    }

    func read(_ path: String, version: String? = nil, range: Range<Int64>? = nil) async throws -> [UInt8] {
        let buffer = ContentBuffer()
        _ = try await storage.read(self.path(path), version: version, range: range, into: buffer)
        return buffer.bytes
    }

    func entry(_ path: String) async throws -> PathEntry? { try await storage.entry(at: self.path(path)) }

    /// All entries of a folder by name, page by page.
    func list(_ folder: String = "") async throws -> [String: PathEntry] {
        var (found, page) = ([String: PathEntry](), EnumerationPage?.none)
        repeat {
            let answer = try await storage.list(path(folder), isDeep: false, from: page)
            for entry in answer.entries { found[entry.path.name?.description ?? ""] = entry }
            page = answer.next
        } while page != nil
        return found
    }

    /// Puts an object there as other tools do.
    func put(_ key: String, _ text: String = "", _ headers: [(name: String, value: String)] = []) async throws {
        var request = S3Request("PUT", Array(key.utf8))
        request.headers = headers
        request.body = .bytes(Array(text.utf8))
        _ = try await other.connection.send(request)
    }

    func object(_ key: String) async throws -> StoredObject? { try await other.connection.head(Array(key.utf8)) }

    /// Uploads in parts that were begun and not ended.
    func unfinishedUploads() async throws -> Int {
        var request = S3Request("GET")
        request.query = [("uploads", "")]
        let answer = try await other.connection.send(request)
        return String(decoding: answer.body, as: UTF8.self).components(separatedBy: "<UploadId>").count - 1
    }
}

/// The error of a call that has to fail.
func failure(_ body: () async throws -> Void) async throws -> PathStorageError {
    do { try await body() } catch let error as PathStorageError { return error }
    throw BrokenPromise("it should have failed")
}
