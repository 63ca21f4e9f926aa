import DirectoryStore
import Foundation
import Glibc
import HTTPStorage
import PathStore
import ReplicaModel
import ReplicaTestSupport
import SystemPackage
import Threads

@testable import S3Store
@testable import SFTPStore
@testable import WebDAVStore

/// Where several machines have one domain: a place of its own on a real server that the tests of this process share.
struct SharedPlace: Sendable {
    enum Kind: String, CaseIterable, CustomStringConvertible {
        case directory, sftp, s3, webdav

        var description: String { rawValue }
    }

    /// A store as one machine has it open.
    struct Opened: Sendable {
        let store: any RemoteStore
        /// Ends it, as the end of its process does.
        let close: @Sendable () async -> Void
    }

    let kind: Kind
    /// A folder, a bucket.
    private let name: String

    private static let buckets = Result {
        try ServingProgram("../S3StoreTests/s3-server", [TemporaryFolder.unusedPath().string])
    }
    private static let folders = Result {
        try ServingProgram("../WebDAVStoreTests/webdav-server", ["lighttpd", TemporaryFolder.unusedPath().string])
    }
    private static let ssh = Result { try ServingProgram("ssh-server", [TemporaryFolder.unusedPath().string]) }
    private static let account = S3Credentials(
        accessKey: "testaccesskey0000001", secretKey: "testsecretkeytestsecretkeytestsecretkey1")

    /// Makes a place that is empty.
    init(_ kind: Kind) async throws {
        self.kind = kind
        let fresh = "place-\(UInt64.random(in: 0 ... .max))"
        switch kind {
        case .directory:
            name = TemporaryFolder.unusedPath().string
            try Self.makeDirectory(name)
        case .sftp:
            name = try Self.value("SSH_DATA", Self.ssh) + "/" + fresh
            try Self.makeDirectory(name)
        case .webdav:
            name = fresh
            try Self.makeDirectory(try Self.value("DAV_DATA", Self.folders) + "/" + fresh)
        case .s3:
            name = fresh
            let account = try Self.bucketAccount()
            let connection = try S3Connection(try S3Address(name), account: account) { () throws(ServerFailure) in
                account
            }
            _ = try await connection.send(S3Request("PUT"))
            connection.close()
        }
    }

    /// The folder on the disk of a server of files.
    var disk: String {
        get throws { kind == .webdav ? try Self.value("DAV_DATA", Self.folders) + "/" + name : name }
    }

    /// Removes what a directory leaves on this disk; the servers' own goes with them.
    func remove() {
        if kind == .directory { try? FileManager.default.removeItem(atPath: name) }  // Else it is left in /var/tmp.
    }

    private static func makeDirectory(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    private static func value(_ key: String, _ program: Result<ServingProgram, any Error>) throws -> String {
        guard let value = try program.get().values[key] else { throw BrokenPromise("the server said no \(key)") }
        return value
    }

    private static func bucketAccount() throws -> S3Account {
        S3Account(
            credentials: account, region: "us-east-1", endpoint: try value("S3_ENDPOINT", buckets),
            isVirtualHosted: false)
    }

    /// Opens the store as a daemon does.
    /// - Parameters:
    ///   - folder: The machine's own.
    ///   - log: Told of each change that the machine makes in the storage.
    ///   - line: Between the machine and the storage.
    ///   - asksAboutRoot: As in a domain.
    func open(
        folder: String, log: OperationLog.Writer, line: Line, asksAboutRoot: Bool = false
    ) async throws -> Opened {
        var options = PathStoreOptions()
        // Each question is a look.
        (options.openIntervalSeconds, options.wholeIntervalSeconds) = (0, 0)
        options.asksAboutRoot = asksAboutRoot
        switch kind {
        case .directory:
            return Opened(store: StoreBehindLine(store: try DirectoryStore(path: name), line: line), close: {})
        case .sftp:
            var command = SSHCommand()
            command.arguments = ["-F", try Self.value("SSH_CONFIG", Self.ssh)]
            let storage = try await SFTPStorage.open(try SFTPAddress("server\(name)"), command: command)
            return try opened(storage, folder, log, line, options) { await storage.close() }
        case .s3:
            let account = try Self.bucketAccount()
            let memory = SavedAbilities<S3Store.ServerAbilities>(folder: folder)
            let storage = try await S3Storage.open(try S3Address(name), memory: memory) { () throws(ServerFailure) in
                account
            }
            return try opened(storage, folder, log, line, options) { storage.close() }
        case .webdav:
            let server = try Self.value("DAV_SERVER", Self.folders)
            let memory = SavedAbilities<WebDAVStore.ServerAbilities>(folder: folder)
            let storage = try await WebDAVStorage.open(
                try WebDAVAddress("\(server)/\(name)", isSecure: false), .password(user: "user", password: "pass"),
                memory: memory, timeLimit: .seconds(60))
            return try opened(storage, folder, log, line, options) { storage.close() }
        }
    }

    private func opened(
        _ storage: any PathStorage, _ folder: String, _ log: OperationLog.Writer, _ line: Line,
        _ options: PathStoreOptions,
        close: @escaping @Sendable () async -> Void
    ) throws -> Opened {
        let watched = WatchedStorage(storage: storage, log: log, line: line)
        let store = try PathStore(watched, folder: folder, options: options)
        return Opened(store: StoreBehindLine(store: store, line: line, isWithinMachine: true)) {
            // What is under way in it fails then.
            try? store.close()
            await close()
        }
    }
}
