import Foundation
import Glibc
import HTTPClient
import HTTPStorage
import PathStore
import ReplicaModel
import ReplicaTestSupport
import Threads

@testable import S3Store

/// A session on the real server, in a folder of a bucket, through a proxy that does something to some of its requests.
final class FaultedSession: Sendable {
    private static let place = Locked(0)

    private let server: S3Server
    private let place: String
    private let folder: String
    private let proxy: HTTPFaultProxy
    private let outside: BucketClient
    private let faults: StepFaults
    private let limits: TransferLimits

    /// - Parameters:
    ///   - bucket: There; others may be at work in other folders of it.
    ///   - attempts: Of each request by the store itself.
    ///   - patience: Seconds that silence is waited for.
    ///   - copied: Bytes of the largest object that one request copies.
    init(
        _ server: S3Server, _ bucket: String, attempts: Int = 4, patience: Int = 30, copied: Int64 = 5 << 30,
        _ choice: @escaping StepFaults.Choice
    ) throws {
        self.server = server
        var limits = TransferLimits()
        (limits.parted, limits.part, limits.whole, limits.patience) = (100_000, 65_536, 100_000, patience)
        (limits.attempts, limits.copied) = (attempts, copied)
        self.limits = limits
        let number = Self.place.withLock { number in
            number += 1
            return number
        }
        place = "\(bucket)/session-\(number)"
        folder = "/var/tmp/replica-test-\(getpid())-faults-\(number)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        outside = BucketClient(connection: try server.connection(bucket), base: "session-\(number)/")
        let (faults, port) = (StepFaults(choice), UInt16(server.endpoint.split(separator: ":").last ?? ""))
        self.faults = faults
        proxy = try HTTPFaultProxy(to: { port }, plan: { faults.fault(for: $0) })
    }

    deinit {
        proxy.close()
        outside.connection.close()
        // What cannot be removed is left for the machine's own cleaning.
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// What was done to which requests.
    var faulted: [String] { faults.faulted }

    /// Plays an act, and looks what is left of it.
    func play(_ act: ScriptedSession.Act) async throws {
        try await run { store in
            let session = ScriptedSession(
                store, ScriptedSession.Outside { [outside] in try await outside.files() }, large: 150_000
            ) { [faults] step in
                if step == nil { faults.disarm() } else { faults.arm() }
            }
            try await session.play(act)
            try await isTidy()
        }
    }

    /// Opens the store, as one process does and, after that is dead, the next one.
    func run(_ body: (PathStore) async throws -> Void) async throws {
        let storage = try await open()
        defer { storage.close() }
        try await faults.run(storage, folder: folder, body)
    }

    /// Makes a call with the requests under the proxy's rule.
    func armed<Value>(_ body: () async throws -> Value) async throws -> Value {
        faults.arm()
        defer { faults.disarm() }
        return try await body()
    }

    /// What others see.
    func files() async throws -> [String: [UInt8]] { try await outside.files() }

    /// Writes as another client does.
    func writeElsewhere(_ text: String, to path: String) async throws {
        try await outside.write(Array(text.utf8), to: path)
    }

    /// Removes as another client does.
    func removeElsewhere(_ path: String) async throws { try await outside.delete(path) }

    /// Opens it as another machine does, with a state of its own, and beside the proxy.
    func openElsewhere() async throws -> S3Storage { try await server.storage(place, limits: limits) }

    /// Opens it through the proxy, as one that is known.
    func open() async throws -> S3Storage {
        let (account, address) = (proxied, try S3Address(place))
        let memory = AbilityMemory<ServerAbilities>(folder: folder)
        let connection = try S3Connection(address) { () throws(ServerFailure) in account }
        connection.close()
        memory.note(ServerAbilities(createsExclusively: true, replaceForm: .bare), of: connection.server)
        return try await S3Storage.open(address, limits: limits, memory: memory) { () throws(ServerFailure) in account }
    }

    /// What is found out of the server, with all requests under the proxy's rule.
    func abilities() async throws(ServerFailure) -> ServerAbilities {
        let account = proxied
        faults.arm()
        let storage = try await S3Storage.open(try! S3Address(place), limits: limits) { () throws(ServerFailure) in
            account
        }
        storage.close()
        return storage.abilities
    }

    private var proxied: S3Account {
        S3Account(
            credentials: S3Server.credentials, region: "us-east-1", endpoint: "http://127.0.0.1:\(proxy.port)",
            isVirtualHosted: false)
    }

    /// Nothing of ours is left: no notes, and no parts that somebody pays for.
    func isTidy() async throws {
        let keys = try await outside.keys()
        guard keys.isEmpty else { throw BrokenPromise("left behind: \(keys)") }
        let uploads = try await unfinishedUploads()
        guard uploads == 0 else { throw BrokenPromise("uploads left behind: \(uploads)") }
    }

    func notes() async throws -> [String] { try await outside.keys().filter { $0.contains("/.replica/") } }

    func unfinishedUploads() async throws -> Int {
        var request = S3Request("GET")
        request.query = [("uploads", ""), ("prefix", outside.base)]
        let answer = try await outside.connection.send(request)
        return String(decoding: answer.body, as: UTF8.self).components(separatedBy: "<UploadId>").count - 1
    }
}

extension BucketClient {
    /// What others see of all files: their contents by their paths.
    func files() async throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for key in try await keys() where !key.hasSuffix("/") && !key.contains("/.replica/") {
            let path = String(key.dropFirst(base.utf8.count))
            files[path] = try await content(at: path)
        }
        return files
    }
}
