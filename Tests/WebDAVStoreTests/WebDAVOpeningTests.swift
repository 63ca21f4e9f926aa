import Glibc
import HTTPStorage
import PathStore
import ReplicaModel
import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import WebDAVStore

/// Why a folder can't be used is told apart.
@Suite struct WebDAVOpeningTests {
    private func failure(
        _ server: WebDAVServer, _ path: String = "", _ login: WebDAVLogin = WebDAVServer.login, isSecure: Bool = false
    ) async throws -> ServerFailure {
        let address = try WebDAVAddress("\(try server.place)/\(path)", isSecure: isSecure)
        return try await openingFailure(address, login)
    }

    @Test(arguments: [WebDAVServer.lighttpd, .apache, .nginx, .digest])
    func wrongAndMissingLoginsAreReported(_ server: WebDAVServer) async throws {
        let wrong = WebDAVLogin.password(user: "user", password: "wrong")
        #expect(
            try await failure(server, "", wrong) == .notAuthenticated("the server rejects this login"))
        guard case .notAuthenticated(let text) = try await failure(server, "", .nothing) else {
            Issue.record("it was another failure")
            return
        }
        #expect(text.hasPrefix("the server requires a login"))
    }

    /// A token instead of a password: a wrong one, none, a password where a token is wanted, and the right one.
    @Test func aTokenIsAccepted() async throws {
        let refused = ServerFailure.notAuthenticated("the server rejects this login")
        #expect(try await failure(.bearer, "", .token("wrong")) == refused)
        guard case .notAuthenticated = try await failure(.bearer, "", .nothing),
            case .notAuthenticated(let text) = try await failure(.bearer)
        else {
            Issue.record("it was another failure")
            return
        }
        #expect(text == "the server does not accept passwords: it asks for bearer")
        let folder = try await WebDAVServer.bearer.folder()
        defer { folder.connection.close() }
        let storage = try await WebDAVStorage.open(folder.connection.address, WebDAVServer.token)
        defer { storage.close() }
        try await WebDAVScratch(storage: storage, other: folder).write("file", "text")
        #expect(try await folder.content(at: "file") == Array("text".utf8))
    }

    @Test(arguments: WebDAVServer.allPlain) func aMissingFolderIsReported(_ server: WebDAVServer) async throws {
        let place = try server.place
        #expect(
            try await failure(server, "no/such") == .refused("there is no folder dav://\(place)/no/such there"))
    }

    @Test func anUnreachableServerIsReported() async throws {
        let address = try WebDAVAddress("127.0.0.1:1/", isSecure: true)
        guard case .unreachable(let text) = try await openingFailure(address, .nothing) else {
            Issue.record("it was another failure")
            return
        }
        #expect(text.contains("127.0.0.1"))
    }

    /// One that nobody vouches for is not told the password; one that the person vouches for is.
    @Test func anUntrustedCertificateIsRefused() async throws {
        guard case .untrusted = try await failure(.tls, isSecure: true) else {
            Issue.record("it was another failure")
            return
        }
        var address = try WebDAVAddress("\(try WebDAVServer.tls.place)/", isSecure: true)
        address.authorities = try WebDAVServer.tls.data + "/../certificate"
        let storage = try await WebDAVStorage.open(address, WebDAVServer.login)
        storage.close()
        // Nor is plain text spoken with who wants TLS.
        guard case .unreachable = try await failure(.apache, isSecure: true) else {
            Issue.record("it was another failure")
            return
        }
    }

    @Test func aFileIsNotAFolder() async throws {
        let folder = try await WebDAVServer.lighttpd.folder()
        try await folder.write([1], to: "file")
        let path = folder.connection.address.path.map(\.description).joined(separator: "/")
        folder.connection.close()
        // As if it might not be looked at.
        guard case .notAuthenticated(let text) = try await failure(.lighttpd, "\(path)/file") else {
            Issue.record("it was another failure")
            return
        }
        #expect(text == "this login may not read the folder, or it is not a folder (the server answers 403)")
    }

    /// What a server far away keeps is tested to the end, and not again at the next opening.
    @Test func aDistantServerIsTestedOnce() async throws {
        let (port, requests) = (try WebDAVServer.lighttpd.port, Locked(0))
        let plan: HTTPFaultProxy.Plan = { _ in
            requests.withLock { $0 += 1 }
            // As by a satellite; the tests take several seconds.
            usleep(150_000)
            return nil
        }
        let proxy = try HTTPFaultProxy(to: { port }, plan: plan)
        defer { proxy.close() }
        let folder = try await WebDAVServer.lighttpd.folder()
        defer { folder.connection.close() }
        let names = folder.connection.address.path.map { String(decoding: $0.bytes, as: UTF8.self) }
        let address = try WebDAVAddress("127.0.0.1:\(proxy.port)/\(names.joined(separator: "/"))", isSecure: false)
        let state = try TemporaryFolder()
        func open() async throws -> PathStorageProperties {
            let memory = SavedAbilities<ServerAbilities>(folder: state.path.string)
            let storage = try await WebDAVStorage.open(address, WebDAVServer.login, memory: memory)
            defer { storage.close() }
            return storage.properties
        }
        let first = try await open()
        #expect(first.createStrength == .atomic && first.replaceStrength == .atomic)
        let before = requests.withLock { $0 }
        let second = try await open()
        #expect(second.createStrength == .atomic && requests.withLock { $0 } - before < 6)
    }
}
