import Foundation
import Glibc
import PathStore
import ReplicaModel
import ReplicaTestSupport
import Testing

@testable import SFTPStore

/// A storage on a private server, and steps on it.
struct SFTPScratch: StorageScratch {
    let server: SSHServer
    let storage: SFTPStorage

    /// Runs a test.
    static func run(
        _ program: SSHServer.Program = .openSSH("internal-sftp"), limits: ConnectionLimits = ConnectionLimits(),
        _ body: (SFTPScratch) async throws -> Void
    ) async throws {
        try await SSHServer.run(program) { server in
            let address = try server.address
            // A busy machine may keep the server from answering within a test's short limits.
            func mayPass(_ failure: SFTPFailure) -> Bool { if case .unreachable = failure { true } else { false } }
            let storage = try await eventually(despite: mayPass) { () async throws(SFTPFailure) in
                try await SFTPStorage.open(address, command: server.command, limits: limits)
            }
            let outcome: Result<Void, any Error>
            do {
                outcome = .success(try await body(SFTPScratch(server: server, storage: storage)))
            } catch {
                outcome = .failure(error)
            }
            await storage.close()
            try outcome.get()
        }
    }

    func names(_ folder: String = "") async throws -> [String] {
        try await storage.list(path(folder), isDeep: false, from: nil).entries.compactMap(\.path.name?.description)
            .sorted()
    }

    /// The contents of the server's disk.
    func there(_ path: String) -> String { "\(server.root)/\(path)" }

    func content(_ path: String) throws -> String { try String(contentsOfFile: there(path), encoding: .utf8) }

    func shell(_ path: String) throws -> stat {
        var found = stat()
        guard lstat(there(path), &found) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        return found
    }

    /// Temporary files that are left on the server.
    func leftovers(_ folder: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: there(folder)).filter { $0.hasPrefix(".replica-tmp-") }
    }
}
