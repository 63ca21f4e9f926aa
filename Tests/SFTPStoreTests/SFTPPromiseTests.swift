import Foundation
import Glibc
import PathStore
import ReplicaModel
import ReplicaTestSupport
import Testing

@testable import SFTPStore

/// The promises that every store keeps, over real servers.
@Suite struct SFTPPromiseTests {
    /// No promise ends by these: a busy machine may take minutes to log in.
    private static let limits: ConnectionLimits = {
        var limits = ConnectionLimits()
        (limits.hello, limits.silence, limits.answer) = (.seconds(3_600), .seconds(3_600), .seconds(3_600))
        return limits
    }()

    @Test(arguments: ["internal-sftp", "/usr/lib/openssh/sftp-server"])
    func keepsEveryPromise(_ subsystem: String) async throws {
        try await keepsAll(.openSSH(subsystem))
    }

    /// A server that keeps no modes and no symlinks, can't link or sync, and replaces existing files.
    @Test func keepsEveryPromiseOnAServerWithFewFeatures() async throws {
        // rclone lists names with control characters differently: they are rejected, as below.
        try await keepsAll(.rclone) { $0.name != "names come back byte for byte" }
    }

    private func keepsAll(
        _ program: SSHServer.Program, but isOwed: (StorePromise) -> Bool = { _ in true }
    ) async throws {
        try await SSHServer.run(program) { server in
            try await withThrowingTaskGroup(of: Void.self) { group in
                var started = 0
                for (number, promise) in StorePromises.all.filter(isOwed).enumerated() {
                    if started >= 12 { try await group.next() }
                    started += 1
                    group.addTask {
                        do { try await Self.check(promise, number, server) } catch {
                            Issue.record("\(promise): \(error)")
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    private static func check(_ promise: StorePromise, _ number: Int, _ server: SSHServer) async throws {
        let (root, table) = ("\(server.root)/\(number)", "\(server.folder)/table-\(number)")
        for folder in [root, table] {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        }
        let storage = try await SFTPStorage.open(
            try server.address(of: root), command: server.command, limits: Self.limits)
        let outcome: Result<Void, any Error>
        do {
            let subject = try await StoreSubject(other: DirectoryClient(root: root)) {
                try PathStore(storage, folder: table, options: .alwaysListing)
            }
            outcome = .success(try await promise.check(subject))
        } catch {
            outcome = .failure(error)
        }
        await storage.close()
        try outcome.get()
    }
}

/// Another client, which works on the server's disk.
struct DirectoryClient: OtherClient {
    let root: String

    private func place(_ path: String) -> URL { URL(filePath: "\(root)/\(path)") }

    func write(_ content: [UInt8], to path: String) async throws { try Data(content).write(to: place(path)) }

    func makeFolder(_ path: String) async throws {
        try FileManager.default.createDirectory(at: place(path), withIntermediateDirectories: false)
    }

    func move(_ path: String, to destination: String) async throws {
        try FileManager.default.moveItem(at: place(path), to: place(destination))
    }

    func delete(_ path: String) async throws { try FileManager.default.removeItem(at: place(path)) }

    func content(at path: String) async throws -> [UInt8]? {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: place(path).path, isDirectory: &isFolder), !isFolder.boolValue
        else { return nil }
        return Array(try Data(contentsOf: place(path)))
    }
}
