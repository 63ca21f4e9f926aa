import Foundation
import Glibc
import HTTPClient
import HTTPStorage
import PathStore
import ReplicaModel
import ReplicaTestSupport
import Threads

@testable import RcloneStore

/// The rclone of this process's tests, and its remotes; each test has its own folder there.
enum RcloneRemote: String, CaseIterable, CustomStringConvertible {
    /// A directory behind an alias.
    case disk
    /// Encrypted, on a disk.
    case secret
    /// In chunks, with a hash of each file.
    case chunks
    /// In rclone's memory: without empty folders, and without moves of folders.
    case memory

    var description: String { rawValue }

    /// Its name in rclone.
    private var root: String { self == .memory ? ":memory:tests/" : "\(rawValue):" }

    /// The folder of this process's tests.
    static let base = "/var/tmp/replica-test-\(getpid())-rclone-\(UInt32.random(in: 0 ... .max))"
    static let settings = base + "/rclone.conf"

    /// The version that `scripts/test` has installed.
    static let path: String = {
        let own = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../.build/rclone/rclone")
        return own.standardizedFileURL.path
    }()

    static var environment: [String: String] {
        ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": base, "RCLONE_CONFIG": settings]
    }

    static let program: RcloneProgram = {
        // If that fails, all tests that use it fail.
        try? FileManager.default.createDirectory(atPath: base + "/disk", withIntermediateDirectories: true)
        try? """
        [disk]
        type = alias
        remote = \(base)/disk
        [secret]
        type = crypt
        remote = \(base)/secret
        password = jbRK8mp_MovD_IL4_MIQKFk6jYF2Zw
        [chunks]
        type = chunker
        remote = \(base)/chunks
        chunk_size = 64Ki

        """.write(toFile: settings, atomically: true, encoding: .utf8)
        return RcloneProgram(path: path, environment: environment)
    }()

    /// A temporary folder on this machine.
    static func state() throws -> String {
        _ = program
        let path = "\(base)/s\(UInt32.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }

    private static let shared = Result { try RcloneRunner(program, state: try state()) }

    /// Shared by all tests that don't disturb rclone itself.
    static var connection: RcloneConnection {
        get throws {
            let server = try shared.get()
            return RcloneConnection(client: server.client, server: server)
        }
    }

    /// Creates a folder like another client.
    func folder(_ name: String = "folder-\(UInt64.random(in: 0 ... .max))") async throws -> RcloneClient {
        let client = RcloneClient(
            connection: try Self.connection, root: "\(root)\(name)", state: try Self.state(), marks: self == .memory)
        if self != .memory { try await client.change("operations/mkdir", RcloneInput(client.root, "")) }
        return client
    }
}

/// Another client of a folder, which only knows paths.
struct RcloneClient: OtherClient {
    let connection: RcloneConnection
    let root: String
    let state: String
    /// Whether only folders with entries exist.
    let marks: Bool

    func change(_ call: String, _ input: RcloneInput) async throws { try await connection.long(call, input) }

    func write(_ content: [UInt8], to path: String) async throws {
        let name = "w\(UInt64.random(in: 0 ... .max))"
        try Data(content).write(to: URL(filePath: "\(state)/\(name)"))
        var input = RcloneInput(from: (state, name), to: (root, path))
        var config = RcloneInput.Config()
        config.ignoreTimes = true
        input.config = config
        try await change("operations/copyfile", input)
        try FileManager.default.removeItem(atPath: "\(state)/\(name)")
    }

    func makeFolder(_ path: String) async throws {
        if marks { return try await write([], to: "\(path)/\(RcloneStorage.folderMark)") }
        try await change("operations/mkdir", RcloneInput(root, path))
    }

    private struct Stat: Decodable {
        let item: RemoteItem?
    }

    func stat(_ path: String) async throws -> RemoteItem? {
        let answer: Stat = try await connection.ask("operations/stat", RcloneInput(root, path))
        return answer.item
    }

    func move(_ path: String, to destination: String) async throws {
        guard try await stat(path)?.isFolder == true else {
            return try await change("operations/movefile", RcloneInput(from: (root, path), to: (root, destination)))
        }
        var input = RcloneInput()
        (input.srcFs, input.dstFs) = ("\(root)/\(path)", "\(root)/\(destination)")
        (input.createEmptySrcDirs, input.deleteEmptySrcDirs) = (true, true)
        try await change("sync/move", input)
    }

    func delete(_ path: String) async throws {
        let isFolder = try await stat(path)?.isFolder == true
        try await change(isFolder ? "operations/purge" : "operations/deletefile", RcloneInput(root, path))
    }

    func content(at path: String) async throws -> [UInt8]? {
        guard let item = try await stat(path), !item.isFolder else { return nil }
        if item.size == 0 { return [] }
        var request = connection.contentRequest(root, path, nil)
        request.longestAnswer = 64 << 20
        return try await connection.send(request).body
    }

    /// A storage in its folder.
    func storage() async throws -> RcloneStorage {
        try await RcloneStorage.open(
            try RcloneAddress("rclone:\(root)"), connection, state: state, setsTimes: true)
    }
}

/// A storage in a temporary folder, another client of it, and steps on both.
struct RcloneScratch: StorageScratch {
    let storage: RcloneStorage
    let other: RcloneClient

    static func run(_ remote: RcloneRemote, _ body: (RcloneScratch) async throws -> Void) async throws {
        let other = try await remote.folder()
        try await body(RcloneScratch(storage: try await other.storage(), other: other))
    }

    /// Writes a file like another client.
    func put(_ path: String, _ text: String = "") async throws { try await other.write(Array(text.utf8), to: path) }

    func theirs(_ path: String) async throws -> String? {
        try await other.content(at: path).map { String(decoding: $0, as: UTF8.self) }
    }
}
