import Foundation
import Glibc
import HTTPClient
import HTTPStorage
import PathStore
import ReplicaModel
import ReplicaTestSupport
import Threads

@testable import RcloneStore

/// A session on a real rclone, in a temporary folder, through a proxy that applies faults to some of its requests.
final class FaultedSession: Sendable {
    private let other: RcloneClient
    private let proxy: HTTPFaultProxy
    private let faults: StepFaults
    private let silenceSeconds: Int

    /// An rclone that listens on this machine's network, so that a proxy can be in between.
    private static let networked = Result { () throws -> (port: UInt16, run: RcloneRun) in
        let port = UInt16.random(in: 20_000..<30_000)
        return (port, RcloneRemote.program.serve(atAddress: "127.0.0.1:\(port)"))
    }

    /// - Parameter silenceSeconds: The timeout without a byte, in seconds.
    init(silenceSeconds: Int = 30, _ choice: @escaping StepFaults.Choice) async throws {
        self.silenceSeconds = silenceSeconds
        other = try await RcloneRemote.disk.folder()
        let (faults, port) = (StepFaults(choice), try Self.networked.get().port)
        self.faults = faults
        proxy = try HTTPFaultProxy(to: { port }, plan: { faults.fault(for: $0) })
    }

    deinit { proxy.close() }

    /// The applied faults.
    var faulted: [String] { faults.faulted }

    /// Runs a part of the session, and checks what is left.
    func play(_ act: ScriptedSession.Act) async throws {
        let connection = RcloneConnection(
            client: try HTTPClient(connections: 16), base: "http://127.0.0.1:\(proxy.port)", silence: silenceSeconds)
        // The first request waits until rclone is ready.
        let storage = try await eventuallyOpened(connection)
        try await faults.run(storage, folder: try RcloneRemote.state()) { store in
            let session = ScriptedSession(
                store, ScriptedSession.Outside { [self] in try files() }, large: 150_000
            ) { [faults] step in
                if step == nil { faults.disarm() } else { faults.arm() }
            }
            try await session.play(act)
            let left = try names()
            guard left.isEmpty else { throw BrokenPromise("left behind: \(left)") }
        }
        await connection.close()
    }

    private func eventuallyOpened(_ connection: RcloneConnection) async throws -> RcloneStorage {
        let address = try RcloneAddress("rclone:\(other.root)")
        let isServing = try await eventually {
            let version: RcloneVersion? = try? await connection.ask("core/version", RcloneInput())
            return version != nil
        }
        guard isServing else { throw BrokenPromise("rclone does not start") }
        // A busy machine may not answer within a short silence.
        func mayPass(_ failure: ServerFailure) -> Bool { if case .unreachable = failure { true } else { false } }
        return try await eventually(despite: mayPass) { () async throws(ServerFailure) in
            try await RcloneStorage.open(address, connection, state: other.state, setsTimes: true)
        }
    }

    // MARK: Other clients' view

    private var base: String { RcloneRemote.base + "/disk/" + other.root.dropFirst("disk:".count) }

    /// Everything on the disk, including the store's internal files.
    private func names() throws -> [String] { try FileManager.default.subpathsOfDirectory(atPath: base).sorted() }

    private func files() throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for path in try names() where !path.contains(RcloneStorage.partialSuffix) {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: "\(base)/\(path)", isDirectory: &isFolder), !isFolder.boolValue
            else { continue }
            files[path] = Array(try Data(contentsOf: URL(filePath: "\(base)/\(path)")))
        }
        return files
    }
}
