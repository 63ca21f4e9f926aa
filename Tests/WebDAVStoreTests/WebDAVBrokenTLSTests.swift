import Glibc
import HTTPStorage
import PathStore
import ReplicaModel
import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import WebDAVStore

/// Connections over TLS that somebody else answers, or that end in the handshake: an error that says so, nothing on the server, and
/// with the right server again all goes on.
@Suite struct WebDAVBrokenTLSTests {
    /// What is in the place of the server.
    enum Trouble: CaseIterable {
        /// A server that speaks no TLS.
        case plainText
        /// Connections end in the handshake.
        case cutHandshake
        /// Nobody.
        case nobody
    }

    @Test(arguments: Trouble.allCases) func noAnswerIsAcceptedFromAnImpostor(_ trouble: Trouble) async throws {
        let (port, other) = (try WebDAVServer.tls.port, try WebDAVServer.lighttpd.port)
        let isBroken = Locked(false)
        let proxy = try CuttingProxy(
            to: {
                guard isBroken.withLock({ $0 }) else { return port }
                switch trouble {
                case .plainText: return other
                case .cutHandshake: return port
                case .nobody: return nil
                }
            },
            limit: { _ in isBroken.withLock { $0 } && trouble == .cutHandshake ? 700 : nil })
        defer { proxy.close() }
        var folder = try WebDAVAddress("127.0.0.1:\(proxy.port)/", isSecure: true)
        folder.authorities = try WebDAVServer.tls.data + "/../certificate"
        let address = folder
        // Each has connections of its own.
        func storage() async throws -> WebDAVStorage {
            try await WebDAVStorage.open(address, WebDAVServer.login, abilities: ServerAbilities(), silence: 5)
        }
        let name = StoragePath([FileName("tls-\(UInt64.random(in: 0 ... .max))")])
        let first = try await storage()
        _ = try await first.make(name, kind: .folder, attributes: PathAttributes())
        first.close()
        isBroken.withLock { $0 = true }
        for _ in 0..<2 {
            do {
                let second = try await storage()
                second.close()
                Issue.record("it is opened")
            } catch let error as ServerFailure {
                switch error {
                case .unreachable, .untrusted: break
                default: Issue.record("\(error)")
                }
            }
        }
        isBroken.withLock { $0 = false }
        let third = try await storage()
        #expect(try await third.entry(at: name) != nil)
        third.close()
    }

    /// Nor from one with another certificate, in the middle of the work.
    @Test func anotherCertificateIsNotAccepted() async throws {
        let own = try WebDAVServer.tls.port
        // A server with a certificate of its own.
        let program = try ServingProgram("webdav-server", ["tls", TemporaryFolder.unusedPath().string])
        defer { try? program.stop() }
        let other = program.values["DAV_SERVER"]?.split(separator: ":").last.flatMap { UInt16($0) }
        let isOther = Locked(false)
        let proxy = try CuttingProxy(to: { isOther.withLock { $0 } ? other : own }, limit: { _ in nil })
        defer { proxy.close() }
        var address = try WebDAVAddress("127.0.0.1:\(proxy.port)/", isSecure: true)
        address.authorities = try WebDAVServer.tls.data + "/../certificate"
        try await WebDAVStorage.open(address, WebDAVServer.login, abilities: ServerAbilities()).close()
        isOther.withLock { $0 = true }
        guard case .untrusted = try await openingFailure(address, WebDAVServer.login) else {
            Issue.record("it was another failure")
            return
        }
        isOther.withLock { $0 = false }
        try await WebDAVStorage.open(address, WebDAVServer.login, abilities: ServerAbilities()).close()
    }
}
