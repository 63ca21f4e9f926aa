import Foundation
import Glibc
import HTTPClient
import HTTPStorage
import PathStore
import ReplicaModel
import ReplicaTestSupport
import SystemPackage
import Threads

@testable import WebDAVStore

/// A real server that all tests of this process share; each has its own folder there.
enum WebDAVServer: String, CaseIterable, CustomStringConvertible {
    case lighttpd, apache, nginx, sabre, rclone
    /// Nextcloud's dialect.
    case nextcloud
    /// Apache that requires Digest, and Apache with an untrusted certificate.
    case digest, tls
    /// nginx that requires a token.
    case bearer

    var description: String { rawValue }

    static let allPlain: [WebDAVServer] = [.lighttpd, .apache, .nginx, .sabre, .rclone, .nextcloud]

    private static let programs = Dictionary(
        uniqueKeysWithValues: allCases.map { kind in (kind, Lazy { try start(kind) }) })

    private static func start(_ kind: WebDAVServer) throws -> ServingProgram {
        try ServingProgram("webdav-server", [kind.rawValue, TemporaryFolder.unusedPath().string])
    }

    /// If it is missing, the test fails.
    private var values: [String: String] {
        get throws { try Self.programs[self]!.value.get().values }
    }

    /// `host:port`, and the served folder.
    var place: String { get throws { try values["DAV_SERVER"] ?? "" } }

    var port: UInt16? {
        get throws { UInt16(try place.prefix { $0 != "/" }.split(separator: ":").last ?? "") }
    }

    /// What it serves, on the disk.
    var data: String { get throws { try values["DAV_DATA"] ?? "" } }

    static let login = WebDAVLogin.password(user: "user", password: "pass")
    static let token = WebDAVLogin.token("let-me-in")

    /// Creates a folder like another client.
    func folder(_ name: String = "folder-\(UInt64.random(in: 0 ... .max))") async throws -> WebDAVClient {
        let root = try client("")
        _ = try await root.connection.send(root.folderRequest("MKCOL", name))
        root.connection.close()
        return try client(name)
    }

    /// Its tested features.
    func abilities() async throws -> ServerAbilities {
        let folder = try await folder()
        defer { folder.connection.close() }
        let storage = try await WebDAVStorage.open(
            folder.connection.address, Self.login, timeLimit: .seconds(60))
        storage.close()
        return storage.abilities
    }

    private var shown: HTTPLogin {
        switch self {
        case .digest: .digest(user: "user", password: "pass")
        case .bearer: .bearer("let-me-in")
        default: .basic(user: "user", password: "pass")
        }
    }

    func client(_ folder: String) throws -> WebDAVClient {
        let connection = try WebDAVConnection(
            try WebDAVAddress("\(try place)/\(folder)", isSecure: self == .tls), Self.login, shown: shown)
        return WebDAVClient(connection: connection)
    }
}

/// Created when it is first used.
final class Lazy<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var made: Result<Value, any Error>?
    private let make: @Sendable () throws -> Value

    init(_ make: @escaping @Sendable () throws -> Value) { self.make = make }

    var value: Result<Value, any Error> {
        lock.withLock {
            let result = made ?? Result { try make() }
            made = result
            return result
        }
    }
}

/// Another client of a folder, which only knows paths.
struct WebDAVClient: OtherClient {
    let connection: WebDAVConnection

    private func names(_ path: String) -> [FileName] { path.split(separator: "/").map { FileName(String($0)) } }

    func folderRequest(_ method: String, _ path: String) -> WebDAVRequest {
        var request = WebDAVRequest(method, names(path))
        request.isFolder = true
        return request
    }

    @discardableResult
    func send(_ request: WebDAVRequest) async throws -> HTTPAnswer { try await connection.send(request) }

    func write(_ content: [UInt8], to path: String) async throws {
        var request = WebDAVRequest("PUT", names(path))
        request.body = .bytes(content)
        try await send(request)
    }

    func makeFolder(_ path: String) async throws { try await send(folderRequest("MKCOL", path)) }

    private func isFolder(_ path: String) async throws -> Bool {
        try await connection.find(names(path), isFolder: false)?.0.isFolder == true
    }

    func move(_ path: String, to destination: String) async throws {
        let isFolder = try await isFolder(path)
        try await send(connection.move(names(path), to: names(destination), isFolder: isFolder, mayReplace: false))
    }

    func delete(_ path: String) async throws {
        var request = WebDAVRequest("DELETE", names(path))
        request.isFolder = try await isFolder(path)
        try await send(request)
    }

    func content(at path: String) async throws -> [UInt8]? {
        guard try await connection.find(names(path), isFolder: false) != nil else { return nil }
        var request = WebDAVRequest("GET", names(path))
        request.longestAnswer = 64 << 20
        return try await send(request).body
    }

    /// All that is directly in a folder, by name.
    func children(_ path: String = "") async throws -> [String] {
        try await connection.ask(names(path), isFolder: true, withChildren: true).0.filter {
            $0.names.count == names(path).count + 1
        }.compactMap { $0.names.last?.description }.sorted()
    }
}

/// A storage in a temporary folder, another client of it, and steps on both.
struct WebDAVScratch: StorageScratch {
    let storage: WebDAVStorage
    let other: WebDAVClient

    /// Runs a test.
    static func run(_ server: WebDAVServer, _ body: (WebDAVScratch) async throws -> Void) async throws {
        let other = try await server.folder()
        let storage = try await WebDAVStorage.open(
            other.connection.address, WebDAVServer.login, timeLimit: .seconds(60))
        let outcome: Result<Void, any Error>
        do { outcome = .success(try await body(WebDAVScratch(storage: storage, other: other))) } catch {
            outcome = .failure(error)
        }
        storage.close()
        other.connection.close()
        try outcome.get()
    }

    /// Writes a file like another client.
    func put(_ path: String, _ text: String = "") async throws { try await other.write(Array(text.utf8), to: path) }

    func theirs(_ path: String) async throws -> String? {
        try await other.content(at: path).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// The failure of opening what can't be opened.
func openingFailure(_ address: WebDAVAddress, _ login: WebDAVLogin) async throws -> ServerFailure {
    do throws(ServerFailure) { try await WebDAVStorage.open(address, login).close() } catch { return error }
    throw BrokenPromise("it should have failed")
}
