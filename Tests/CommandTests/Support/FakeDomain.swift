import Foundation
import ReplicaControl
import ReplicaModel
import ReplicaTestSupport
import SystemPackage
import Threads

@testable import mount_replica

/// A domain on disk without a tree, whose daemon runs in this process and answers from a script.
final class FakeDomain: Sendable {
    let folder: TemporaryFolder
    let name: DomainName
    /// The state directory.
    let state: FilePath
    let service: ScriptedService
    private let server: Locked<ControlServer?>

    /// Makes `FOLDER/replica/NAME/domain.json`; with a script also a daemon.
    init(
        _ name: String = "photos", in folder: TemporaryFolder? = nil,
        script: (@Sendable (ControlRequest, EventSink) async throws -> ControlAnswer)? = nil
    ) throws {
        self.folder = try folder ?? TemporaryFolder()
        self.name = try DomainName(name)
        state = try self.folder.makeFolder("replica/\(name)")
        try self.folder.makeFolder("replica/\(name)/tree")
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: state.string)
        let record = DomainRecord(name: self.name, store: try StoreURL("file:///srv/\(name)"))
        try self.folder.write(
            String(decoding: try record.json(), as: UTF8.self), to: "replica/\(name)/domain.json", mode: 0o600)
        service = ScriptedService(script: script ?? { _, _ in .done })
        server = Locked(nil)
        if script != nil {
            let started = try ControlServer(state: state, service: service)
            server.withLock { $0 = started }
        }
    }

    deinit {
        // The folder is removed, so its server must not outlive it.
        guard let left = server.withLock({ $0 }) else { return }
        Thread.detachNewThread { left.stop() }
    }

    /// The environment with which programs find it.
    var environment: [String: String] { ["XDG_DATA_HOME": folder.path.string] }

    /// Sends one request from a new client.
    func ask(_ request: ControlRequest, timeout: Double? = 300) async throws -> (ControlAnswer, [ControlEvent]) {
        let state = state
        return try await onThread {
            var events: [ControlEvent] = []
            let client = try ControlClient(state: state)
            let answer = try client.request(request, timeout: timeout) { events.append($0) }
            return (answer, events)
        }
    }

    /// Ends the daemon.
    func stop() async throws {
        let left = server.withLock { server in
            defer { server = nil }
            return server
        }
        try await onThread { left?.stop() }
    }
}

/// Answers from a script and records the requests.
final class ScriptedService: ControlRequestHandler {
    private struct State {
        var asked: [ControlRequest] = []
        var inProgress = 0
    }

    private let state = Locked(State())
    private let script: @Sendable (ControlRequest, EventSink) async throws -> ControlAnswer

    init(script: @escaping @Sendable (ControlRequest, EventSink) async throws -> ControlAnswer) {
        self.script = script
    }

    /// All requests so far, without the signs of life for which a client asks while it waits for another answer.
    var requests: [ControlRequest] { state.withLock { $0.asked } }

    func answer(_ request: ControlRequest, events: EventSink) async throws -> ControlAnswer {
        state.withLock { state in
            if request != .hello || state.inProgress == 0 { state.asked.append(request) }
            state.inProgress += 1
        }
        defer { state.withLock { $0.inProgress -= 1 } }
        return try await script(request, events)
    }
}
