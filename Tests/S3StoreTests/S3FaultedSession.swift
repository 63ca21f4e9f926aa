import Foundation
import HTTPClient
import HTTPStorage
import PathStore
import ReplicaModel
import ReplicaTestSupport
import Threads

@testable import S3Store

/// A session on the real server, in a folder of a bucket, through a proxy that applies faults to some of its requests.
final class S3FaultedSession: FaultedSession {
    private static let place = Locked(0)

    private let server: S3Server
    private let place: String
    let connection: FaultedConnection
    private let outside: BucketClient
    private let limits: Locked<TransferLimits>
    private let removesConditionally: Bool

    /// - Parameters:
    ///   - bucket: An existing bucket; other clients may use other folders of it.
    ///   - attempts: The store's own attempts of each request.
    ///   - silenceSeconds: The timeout without a byte, in seconds.
    ///   - copied: The maximum size of an object that one request copies, in bytes.
    init(
        _ server: S3Server, _ bucket: String, attempts: Int = 4, silenceSeconds: Int = 30, copied: Int64 = 5 << 30,
        removesConditionally: Bool = false, _ choice: @escaping StepFaults.Choice
    ) throws {
        (self.server, self.removesConditionally) = (server, removesConditionally)
        var limits = TransferLimits()
        (limits.parted, limits.part, limits.whole, limits.silenceSeconds) = (100_000, 65_536, 100_000, silenceSeconds)
        (limits.attempts, limits.copied) = (attempts, copied)
        self.limits = Locked(limits)
        let number = Self.place.withLock { number in
            number += 1
            return number
        }
        place = "\(bucket)/session-\(number)"
        outside = BucketClient(connection: try server.connection(bucket), base: "session-\(number)/")
        connection = try FaultedConnection(to: UInt16(server.endpoint.split(separator: ":").last ?? ""), choice)
    }

    deinit { outside.connection.close() }

    /// What the server can do, as far as its client knows.
    var known: ServerAbilities {
        ServerAbilities(createsExclusively: true, replaceForm: .bare, removesConditionally: removesConditionally)
    }

    func run(_ body: (PathStore) async throws -> Void) async throws {
        let storage = try await open()
        defer { storage.close() }
        try await connection.run(storage, body)
    }

    func files() async throws -> [String: [UInt8]] { try await outside.files() }

    /// Writes like another client.
    func writeElsewhere(_ text: String, to path: String) async throws {
        try await outside.write(Array(text.utf8), to: path)
    }

    /// Removes like another client.
    func removeElsewhere(_ path: String) async throws { try await outside.delete(path) }

    /// Opens it like another machine, with its own state, bypassing the proxy.
    func openElsewhere() async throws -> S3Storage {
        try await server.storage(place, limits: limits.withLock { $0 })
    }

    /// From now on, an upload that nobody continues is abandoned after so many seconds.
    func setAbandonment(_ seconds: Int64) { limits.withLock { $0.abandonment = seconds } }

    /// Opens it through the proxy, with known features.
    func open() async throws -> S3Storage {
        let (account, address, limits) = (proxied, try S3Address(place), limits.withLock { $0 })
        let memory = SavedAbilities<ServerAbilities>(folder: connection.folder)
        let unused = try S3Connection(address, account: account) { () throws(ServerFailure) in account }
        unused.close()
        memory.note(known, of: unused.server)
        // A busy machine may not answer within a short silence.
        func mayPass(_ failure: ServerFailure) -> Bool { if case .unreachable = failure { true } else { false } }
        return try await eventually(despite: mayPass) { () async throws(ServerFailure) in
            try await S3Storage.open(address, limits: limits, memory: memory) { () throws(ServerFailure) in account }
        }
    }

    /// The server's tested features, with all requests through the proxy.
    func abilities() async throws(ServerFailure) -> ServerAbilities {
        let (account, limits) = (proxied, limits.withLock { $0 })
        connection.arm()
        let storage = try await S3Storage.open(try! S3Address(place), limits: limits) { () throws(ServerFailure) in
            account
        }
        storage.close()
        return storage.abilities
    }

    private var proxied: S3Account {
        S3Account(
            credentials: S3Server.credentials, region: "us-east-1", endpoint: "http://127.0.0.1:\(connection.port)",
            isVirtualHosted: false)
    }

    /// The store's own folder is lost, as that of a domain that was removed.
    func forgetEverything() throws {
        let folder = connection.folder
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
        }
    }

    /// Begins an upload like another tool.
    func beginElsewhere(_ path: String) async throws -> MultipartUpload {
        try await MultipartUpload.begin(outside.connection, Array((outside.base + path).utf8), [])
    }

    /// Sends a part of an upload of the store's, like a machine that continues it.
    func sendElsewhere(_ path: String, _ number: Int) async throws {
        let key = Array((outside.base + path).utf8)
        let uploads = try await outside.connection.uploads(of: key, since: 0)
        guard let identifier = uploads.first else { throw BrokenPromise("there is no upload") }
        _ = try await MultipartUpload(connection: outside.connection, key: key, identifier: identifier).send(
            number, .bytes([UInt8](repeating: 1, count: 65_536)), sent: nil)
    }

    /// Notes, and parts that cost storage, are left too.
    func leftovers() async throws -> [String] {
        let uploads = try await unfinishedUploads()
        return try await outside.keys().map { "\($0)" } + (uploads == 0 ? [] : ["\(uploads) uploads"])
    }

    func notes() async throws -> [String] { try await outside.keys().filter { $0.contains("/.replica/") } }

    /// Aborts all uploads, like a rule of the bucket.
    func abortUploads() async throws {
        var request = S3Request("GET")
        request.query = [("uploads", ""), ("prefix", outside.base)]
        let answer = try await outside.connection.send(request)
        for upload in XMLReader.read(answer.body)?.children ?? [] where upload.name == "Upload" {
            let key = Array((upload["Key"]?.text ?? "").utf8)
            let identifier = upload["UploadId"]?.text ?? ""
            _ = await MultipartUpload(connection: outside.connection, key: key, identifier: identifier).abort()
        }
    }

    func unfinishedUploads() async throws -> Int {
        var request = S3Request("GET")
        request.query = [("uploads", ""), ("prefix", outside.base)]
        let answer = try await outside.connection.send(request)
        return String(decoding: answer.body, as: UTF8.self).components(separatedBy: "<UploadId>").count - 1
    }
}

extension BucketClient {
    /// Other clients' view: the contents of all files by path.
    func files() async throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for key in try await keys() where !key.hasSuffix("/") && !key.contains("/.replica/") {
            let path = String(key.dropFirst(base.utf8.count))
            files[path] = try await content(at: path)
        }
        return files
    }
}

extension PathStore {
    /// Creates a file in the root by one call.
    func createOnce(_ name: String, _ content: [UInt8]) async throws -> Item? {
        let template = ItemTemplate(
            identifier: ItemIdentifier("template of \(name)"), parent: .root, filename: FileName(name), kind: .file)
        return try await ItemContents.with(content) { contents async throws(RemoteStoreError) in
            try await createItem(basedOn: template, fields: [.place, .contents], contents: contents, options: [])
        }.item
    }
}
