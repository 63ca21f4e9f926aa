import HTTPClient
import HTTPStorage
import PathStore
import ReplicaModel
import ReplicaTestSupport
import Threads

@testable import RcloneStore

/// A session on a real rclone, in a temporary folder, through a proxy that applies faults to some of its requests.
final class RcloneFaultedSession: FaultedSession {
    private let other: RcloneClient
    let connection: FaultedConnection
    private let silenceSeconds: Int

    /// An rclone that listens on this machine's network, so that a proxy can be in between.
    private static let networked = Result { () throws -> (port: UInt16, run: RcloneProcess) in
        let port = UInt16.random(in: 20_000..<30_000)
        return (port, RcloneRemote.program.serve(atAddress: "127.0.0.1:\(port)"))
    }

    /// - Parameter silenceSeconds: The timeout without a byte, in seconds.
    init(silenceSeconds: Int = 30, _ choice: @escaping StepFaults.Choice) async throws {
        self.silenceSeconds = silenceSeconds
        other = try await RcloneRemote.disk.folder()
        connection = try FaultedConnection(to: try Self.networked.get().port, choice)
    }

    func run(_ body: (PathStore) async throws -> Void) async throws {
        let rclone = RcloneConnection(
            client: try HTTPClient(connections: 16), base: "http://127.0.0.1:\(connection.port)",
            silence: silenceSeconds)
        // The first request waits until rclone is ready.
        try await connection.run(try await eventuallyOpened(rclone), body)
        await rclone.close()
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

    func leftovers() throws -> [String] { try FileTree(readingFolder: base).entries.keys.sorted() }

    func files() throws -> [String: [UInt8]] {
        try FileTree(readingFolder: base).files.filter { !$0.key.contains(RcloneStorage.partialSuffix) }
    }
}
