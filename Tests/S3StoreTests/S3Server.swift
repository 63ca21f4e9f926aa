import Foundation
import Glibc
import HTTPClient
import HTTPStorage
import PathStore
import PercentEncoding
import ReplicaModel
import ReplicaTestSupport
import SystemPackage
import Threads

@testable import S3Store

/// The real server that all tests of this process share; each has its own bucket.
struct S3Server: Sendable {
    let endpoint: String
    /// The same server over TLS, and the file with its certificate.
    var (tls, certificate) = ("", "")
    static let credentials = S3Credentials(
        accessKey: "testaccesskey0000001", secretKey: "testsecretkeytestsecretkeytestsecretkey1")

    private static let program = Result {
        try ServingProgram("s3-server", [TemporaryFolder.unusedPath().string])
    }

    /// If it is missing, the test fails.
    static var shared: S3Server {
        get throws {
            let values = try program.get().values
            return S3Server(
                endpoint: values["S3_ENDPOINT"] ?? "", tls: values["S3_TLS_ENDPOINT"] ?? "",
                certificate: values["S3_CERTIFICATE"] ?? "")
        }
    }

    func account(_ credentials: S3Credentials = Self.credentials, isVirtualHosted: Bool = false) -> S3Account {
        S3Account(
            credentials: credentials, region: "us-east-1",
            endpoint: isVirtualHosted ? endpoint.replacing("127.0.0.1", with: "localhost") : endpoint,
            isVirtualHosted: isVirtualHosted)
    }

    /// Makes a bucket.
    func bucket() async throws -> String {
        let name = "bucket-\(UInt64.random(in: 0 ... .max))"
        let connection = try self.connection(name)
        _ = try await connection.send(S3Request("PUT"))
        connection.close()
        return name
    }

    func connection(_ bucket: String) throws -> S3Connection {
        let account = account()
        return try S3Connection(try S3Address(bucket), account: account) { () throws(ServerFailure) in account }
    }

    /// A storage in a bucket, or in a folder of one.
    func storage(
        _ place: String, _ account: S3Account? = nil, limits: TransferLimits = TransferLimits()
    ) async throws -> S3Storage {
        let account = account ?? self.account()
        return try await S3Storage.open(try S3Address(place), limits: limits) { () throws(ServerFailure) in account }
    }
}

/// Another client of a bucket, which only knows keys.
struct BucketClient: OtherClient {
    let connection: S3Connection
    /// The prefix of its keys.
    var base = ""

    private func key(_ path: String) -> [UInt8] { Array((base + path).utf8) }

    func write(_ content: [UInt8], to path: String) async throws {
        var request = S3Request("PUT", key(path))
        request.body = .bytes(content)
        _ = try await connection.send(request)
    }

    func makeFolder(_ path: String) async throws {
        _ = try await connection.send(S3Request("PUT", key(path + "/")))
    }

    func move(_ path: String, to destination: String) async throws {
        for (from, to) in [(key(path), key(destination))]
            + (try await below(path).map { ($0, key(destination) + $0[key(path).count...]) })
        {
            var request = S3Request("PUT", to)
            let source = Array("\(connection.address.bucket)/".utf8) + from
            request.headers = [("x-amz-copy-source", PercentText.encoded(source, keeping: "/"))]
            guard try await connection.head(from) != nil else { continue }
            _ = try await connection.send(request)
            _ = try await connection.send(S3Request("DELETE", from))
        }
    }

    func delete(_ path: String) async throws {
        for key in [key(path)] + (try await below(path)) { _ = try await connection.send(S3Request("DELETE", key)) }
    }

    func content(at path: String) async throws -> [UInt8]? {
        guard try await connection.head(key(path)) != nil else { return nil }
        var request = S3Request("GET", key(path))
        request.longestAnswer = 64 << 20
        return try await connection.send(request).body
    }

    /// All keys in a folder.
    func below(_ path: String) async throws -> [[UInt8]] {
        try await connection.list(key(path + "/"), isDeep: true, from: nil).objects.map(\.key)
    }

    /// All keys, as text.
    func keys() async throws -> [String] {
        try await connection.list(Array(base.utf8), isDeep: true, from: nil).objects.map {
            String(decoding: $0.key, as: UTF8.self)
        }
    }
}
