import HTTPStorage
import PathStore
import ReplicaModel
import ReplicaTestSupport
import Testing
import Threads

@testable import S3Store

/// Connections over TLS that somebody else answers, or that end in the handshake: an error that says so, nothing is sent to who has no
/// certificate of the server, and with the right server again all goes on.
@Suite struct S3BrokenTLSTests {
    /// What is in the place of the server.
    enum Trouble: CaseIterable {
        /// A server that speaks no TLS.
        case plainText
        /// Connections end in the handshake.
        case cutHandshake
        /// Nobody.
        case nobody
    }

    private static func open(
        _ bucket: String, port: UInt16, certificate: String
    ) async throws(ServerFailure) -> S3Storage {
        let account = S3Account(
            credentials: S3Server.credentials, region: "us-east-1", endpoint: "https://127.0.0.1:\(port)",
            isVirtualHosted: false)
        var address: S3Address
        do { address = try S3Address(bucket) } catch { throw .refused("\(error)") }
        address.authorities = certificate
        return try await S3Storage.open(address) { () throws(ServerFailure) in account }
    }

    private static func port(_ endpoint: String) throws -> UInt16 {
        try #require(endpoint.split(separator: ":").last.flatMap { UInt16($0) })
    }

    @Test(arguments: Trouble.allCases) func noAnswerIsAcceptedFromAnImpostor(_ trouble: Trouble) async throws {
        let server = try S3Server.shared
        let (own, other) = (try Self.port(server.tls), try Self.port(server.endpoint))
        let bucket = try await server.bucket()
        let isBroken = Locked(false)
        let proxy = try CuttingProxy(
            to: {
                guard isBroken.withLock({ $0 }) else { return own }
                switch trouble {
                case .plainText: return other
                case .cutHandshake: return own
                case .nobody: return nil
                }
            },
            limit: { _ in isBroken.withLock { $0 } && trouble == .cutHandshake ? 700 : nil })
        defer { proxy.close() }
        let path = StoragePath([FileName("folder")])
        let first = try await Self.open(bucket, port: proxy.port, certificate: server.certificate)
        _ = try await first.make(path, kind: .folder, attributes: PathAttributes())
        first.close()
        isBroken.withLock { $0 = true }
        do throws(ServerFailure) {
            try await Self.open(bucket, port: proxy.port, certificate: server.certificate).close()
            Issue.record("it is opened")
        } catch {
            switch error {
            case .unreachable, .untrusted: break
            default: Issue.record("\(error)")
            }
        }
        isBroken.withLock { $0 = false }
        let second = try await Self.open(bucket, port: proxy.port, certificate: server.certificate)
        #expect(try await second.entry(at: path)?.kind == .folder)
        second.close()
    }

    /// Nobody vouches for the server's certificate but itself.
    @Test func anotherCertificateIsNotAccepted() async throws {
        let server = try S3Server.shared
        let (bucket, port) = (try await server.bucket(), try Self.port(server.tls))
        do throws(ServerFailure) {
            try await Self.open(bucket, port: port, certificate: "/etc/ssl/certs/ca-certificates.crt").close()
            Issue.record("it is opened")
        } catch {
            guard case .untrusted = error else {
                Issue.record("\(error)")
                return
            }
        }
        try await Self.open(bucket, port: port, certificate: server.certificate).close()
    }
}
