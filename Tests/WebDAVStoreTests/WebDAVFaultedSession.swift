import HTTPStorage
import PathStore
import ReplicaModel
import ReplicaTestSupport

@testable import WebDAVStore

/// A session on a real server, in a temporary folder, through a proxy that applies faults to some of its requests.
final class WebDAVFaultedSession: FaultedSession {
    private let server: WebDAVServer
    /// The folder on the server.
    private let name: String
    let connection: FaultedConnection
    private let silenceSeconds: Int
    private let known: ServerAbilities

    /// - Parameters:
    ///   - known: The server's features.
    ///   - silenceSeconds: The timeout without a byte, in seconds.
    init(
        _ server: WebDAVServer, _ known: ServerAbilities, silenceSeconds: Int = 30,
        _ choice: @escaping StepFaults.Choice
    ) async throws {
        (self.server, self.known, self.silenceSeconds) = (server, known, silenceSeconds)
        name = "session-\(UInt64.random(in: 0 ... .max))"
        connection = try FaultedConnection(to: try server.port, choice)
        try await server.folder(name).connection.close()
    }

    private var address: WebDAVAddress {
        get throws {
            let path = try server.place.drop { $0 != "/" }
            return try WebDAVAddress("127.0.0.1:\(connection.port)\(path)/\(name)", isSecure: false)
        }
    }

    func run(_ body: (PathStore) async throws -> Void) async throws {
        let address = try address
        // A busy machine may not answer within a short silence.
        func mayPass(_ failure: ServerFailure) -> Bool { if case .unreachable = failure { true } else { false } }
        let storage = try await eventually(despite: mayPass) { () async throws(ServerFailure) in
            try await WebDAVStorage.open(address, WebDAVServer.login, abilities: known, silence: silenceSeconds)
        }
        defer { storage.close() }
        try await connection.run(storage, body)
    }

    /// The server's tested features, with all requests through the proxy, which sends no cut request on.
    func abilities() async throws(ServerFailure) -> ServerAbilities {
        connection.arm()
        let storage = try await WebDAVStorage.open(
            try! address, WebDAVServer.login, timeLimit: .seconds(120), noticeTime: .zero,
            silence: silenceSeconds)
        storage.close()
        return storage.abilities
    }

    // MARK: Other clients' view

    func leftovers() throws -> [String] { try found().entries.keys.sorted() }

    func files() throws -> [String: [UInt8]] {
        try found().files.filter { !$0.key.contains(WebDAVStorage.temporaryPrefix) }
    }

    /// Everything on the server's disk, except Apache's and sabre's files.
    private func found() throws -> FileTree {
        var tree = try FileTree(readingFolder: "\(try server.data)/\(name)")
        tree.entries = tree.entries.filter { !$0.key.contains(".DAV") && !$0.key.contains(".sabredav") }
        return tree
    }
}
