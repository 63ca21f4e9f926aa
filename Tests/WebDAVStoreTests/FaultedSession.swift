import Foundation
import Glibc
import HTTPStorage
import PathStore
import ReplicaModel
import ReplicaTestSupport

@testable import WebDAVStore

/// A session on a real server, in a temporary folder, through a proxy that applies faults to some of its requests.
final class FaultedSession: Sendable {
    private let server: WebDAVServer
    /// The folder on the server.
    private let name: String
    /// The store's folder.
    private let folder: String
    private let proxy: HTTPFaultProxy
    private let faults: StepFaults
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
        folder = "/var/tmp/replica-test-\(getpid())-dav-\(name)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try await server.folder(name).connection.close()
        let (faults, port) = (StepFaults(choice), try server.port)
        self.faults = faults
        proxy = try HTTPFaultProxy(to: { port }, plan: { faults.fault(for: $0) })
    }

    deinit {
        proxy.close()
        // Anything that can't be removed is left in /tmp.
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// The applied faults.
    var faulted: [String] { faults.faulted }

    private var address: WebDAVAddress {
        get throws {
            let path = try server.place.drop { $0 != "/" }
            return try WebDAVAddress("127.0.0.1:\(proxy.port)\(path)/\(name)", isSecure: false)
        }
    }

    /// Runs a part of the session, and checks what is left.
    func play(_ act: ScriptedSession.Act) async throws {
        try await run { store in
            let session = ScriptedSession(
                store, ScriptedSession.Outside { [self] in try await files() }, large: 150_000
            ) { [faults] step in
                if step == nil { faults.disarm() } else { faults.arm() }
            }
            try await session.play(act)
            let left = try names()
            guard left.isEmpty else { throw BrokenPromise("left behind: \(left)") }
        }
    }

    /// Opens the store through the proxy, like a process.
    func run(_ body: (PathStore) async throws -> Void) async throws {
        let address = try address
        // A busy machine may not answer within a short silence.
        func mayPass(_ failure: ServerFailure) -> Bool { if case .unreachable = failure { true } else { false } }
        let storage = try await eventually(despite: mayPass) { () async throws(ServerFailure) in
            try await WebDAVStorage.open(address, WebDAVServer.login, abilities: known, silence: silenceSeconds)
        }
        defer { storage.close() }
        try await faults.run(storage, folder: folder, body)
    }

    /// The server's tested features, with all requests through the proxy.
    func abilities() async throws(ServerFailure) -> ServerAbilities {
        faults.arm()
        let storage = try await WebDAVStorage.open(
            try! address, WebDAVServer.login, timeLimit: .seconds(120), silence: silenceSeconds)
        storage.close()
        return storage.abilities
    }

    /// Makes a call with the requests under the proxy's rule.
    func armed<Value>(_ body: () async throws -> Value) async throws -> Value {
        faults.arm()
        defer { faults.disarm() }
        return try await body()
    }

    // MARK: Other clients' view

    /// Everything on the server's disk, including the store's internal files.
    private func names() throws -> [String] {
        let base = "\(try server.data)/\(name)"
        return try FileManager.default.subpathsOfDirectory(atPath: base).filter { path in
            // Apache and sabre have files of their own.
            !path.contains(".DAV") && !path.contains(".sabredav")
        }.sorted()
    }

    /// The contents of all files by path.
    func files() async throws -> [String: [UInt8]] {
        let base = "\(try server.data)/\(name)"
        var files: [String: [UInt8]] = [:]
        for path in try names() where !path.contains(WebDAVStorage.temporaryPrefix) {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: "\(base)/\(path)", isDirectory: &isFolder), !isFolder.boolValue
            else { continue }
            files[path] = Array(try Data(contentsOf: URL(filePath: "\(base)/\(path)")))
        }
        return files
    }
}
