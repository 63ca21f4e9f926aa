import HTTPStorage
import PathStore
import ReplicaModel
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import S3Store

/// The reasons why a bucket can't be used are distinguished.
@Suite struct S3OpeningTests {
    private func failure(_ account: S3Account, _ place: String) async throws -> ServerFailure {
        do throws(ServerFailure) {
            try await S3Storage.open(try! S3Address(place)) { () throws(ServerFailure) in account }.close()
        } catch {
            return error
        }
        throw BrokenPromise("it should have failed")
    }

    @Test func wrongKeysAreReported() async throws {
        let server = try S3Server.shared
        let bucket = try await server.bucket()
        let wrong = S3Credentials(accessKey: S3Server.credentials.accessKey, secretKey: "wrong")
        #expect(
            try await failure(server.account(wrong), bucket)
                == .notAuthenticated("the server rejects this secret key"))
        let none = S3Credentials(accessKey: "none", secretKey: "none")
        #expect(
            try await failure(server.account(none), bucket)
                == .notAuthenticated("the server does not know this access key"))
    }

    @Test func missingBucketsAndServersAreReported() async throws {
        let server = try S3Server.shared
        #expect(
            try await failure(server.account(), "nosuch") == .refused("the bucket nosuch does not exist there"))
        let nobody = S3Account(
            credentials: S3Server.credentials, region: "us-east-1", endpoint: "http://127.0.0.1:1",
            isVirtualHosted: false)
        guard case .unreachable = try await failure(nobody, "bucket") else {
            Issue.record("a server that is not there was another failure")
            return
        }
    }

    /// A plain-text answer does not come from the server of the certificate.
    @Test func anotherServerIsUsedOverTLS() async throws {
        let server = try S3Server.shared
        let account = S3Account(
            credentials: S3Server.credentials, region: "us-east-1",
            endpoint: server.endpoint.replacing("http://", with: "https://"), isVirtualHosted: false)
        guard case .unreachable = try await failure(account, "bucket") else {
            Issue.record("it was another failure")
            return
        }
    }

    /// rclone's server has no objects for folders.
    @Test func aServerWithoutFoldersIsRefused() async throws {
        let program = try ServingProgram("rclone-server", [TemporaryFolder.unusedPath().string])
        let server = S3Server(endpoint: program.values["S3_ENDPOINT"] ?? "", tls: "", certificate: "")
        let bucket = try await server.bucket()
        #expect(
            try await failure(server.account(), bucket)
                == .refused(
                    "the server makes a file of an empty folder: reach its files by another protocol than S3"))
        let connection = try server.connection(bucket)
        defer { connection.close() }
        let page = try await connection.list([], isDeep: true, from: nil, most: 1)
        #expect(page.objects.isEmpty, "its trial objects are removed")
        try program.stop()
    }

    @Test func replacedKeysAreUsed() async throws {
        try await S3Scratch.run { scratch in
            let accounts = AccountBox(scratch.server.account())
            let storage = try await S3Storage.open(try S3Address(scratch.bucket)) { () throws(ServerFailure) in
                accounts.account
            }
            defer { storage.close() }
            // It searches for new keys at most every two seconds.
            try await Task.sleep(for: .milliseconds(2_100))
            accounts.account = scratch.server.account(S3Credentials(accessKey: "none", secretKey: "none"))
            _ = try await storage.entry(at: .root)
        }
    }
}

/// An account that changes after a while.
private final class AccountBox: @unchecked Sendable {
    var account: S3Account
    init(_ account: S3Account) { self.account = account }
}
