import ChildProcess
import Glibc
import HTTPClient
package import HTTPStorage
import ReplicaModel
import Threads

/// Keeps `rclone rcd` running as long as it is needed: starts it for a request, and restarts it after it dies, with
/// pauses.
package final class RcloneRunner: Sendable {
    private struct State {
        var run: RcloneProcess?
        /// Awaited by all requests that arrive while it starts.
        var start: Task<Result<Void, ServerFailure>, Never>?
        /// Starts since the last stable run.
        var failures = 0
        var began = ContinuousClock.now
        /// No start is attempted earlier.
        var pausedUntil: ContinuousClock.Instant?
        var trouble: ServerFailure?
        var isClosed = false
    }

    /// The minimum duration of a stable run.
    private static let steady = Duration.seconds(60)
    /// The timeout of a start: the daemon waits ten seconds for a store.
    private static let answerTimeout = Duration.seconds(8)

    let client: HTTPClient
    let folder: RcloneFolder
    private let program: RcloneProgram
    private let password: String?
    private let state = Locked(State(), rank: .storeProcess)

    /// - Parameters:
    ///   - state: The store's folder.
    ///   - password: The password of an encrypted configuration.
    package init(_ program: RcloneProgram, state: String, password: String? = nil) throws(ServerFailure) {
        (self.program, self.password) = (program, password)
        folder = try RcloneFolder(state: state)
        do throws(HTTPFailure) {
            client = try HTTPClient(socket: folder.socket, connections: 32)
        } catch {
            throw ServerFailure(error)
        }
    }

    deinit { state.withLock { $0.run }?.stop(SIGKILL) }

    /// Whether the configuration was opened with a password that only the server has.
    var hasPassword: Bool { password != nil }

    /// The process ID of rclone; 0 if it is not running.
    package var process: Int32 { state.withLock { $0.run?.process ?? 0 } }

    /// Returns when it accepts requests.
    func ready() async throws(ServerFailure) {
        let start = try state.withLock { (state) throws(ServerFailure) -> Task<Result<Void, ServerFailure>, Never>? in
            if state.isClosed { throw .cancelled }
            if let start = state.start { return start }
            if let run = state.run {
                guard let end = run.end else { return nil }
                note(end, &state)
            }
            if let until = state.pausedUntil, until > .now, let trouble = state.trouble { throw trouble }
            let start = Task { await self.start() }
            (state.start, state.began) = (start, .now)
            return start
        }
        if let start { try await start.value.get() }
    }

    /// The result of the last run, for requests that were waiting for an answer.
    var death: ServerFailure? {
        guard let end = state.withLock({ $0.run })?.end else { return nil }
        return Self.death(end)
    }

    private static func death(_ end: RcloneProcess.End) -> ServerFailure {
        .unreachable(end.lastLine.isEmpty ? "rclone has died" : "rclone has died: \(end.lastLine)")
    }

    private func note(_ end: RcloneProcess.End, _ state: inout State) {
        (state.run, state.trouble) = (nil, Self.death(end))
        if .now - state.began >= Self.steady { (state.failures, state.pausedUntil) = (0, nil) } else { pause(&state) }
    }

    private func pause(_ state: inout State) {
        state.failures += 1
        // The first retry is immediate.
        guard state.failures > 1 else { return }
        state.pausedUntil = .now + min(.seconds(1) * (1 << min(state.failures - 2, 10)), .seconds(60))
    }

    private func start() async -> Result<Void, ServerFailure> {
        folder.clear()
        let run = program.serve(at: folder.socket)
        state.withLock { $0.run = run }
        let outcome: Result<Void, ServerFailure>
        do throws(ServerFailure) {
            try await greet(run)
            outcome = .success(())
        } catch {
            run.stop(SIGKILL)
            outcome = .failure(error)
        }
        let isClosed = state.withLock { state in
            state.start = nil
            if case .failure(let failure) = outcome {
                (state.run, state.trouble) = (nil, failure)
                pause(&state)
            }
            return state.isClosed
        }
        guard isClosed else { return outcome }
        run.stop(SIGKILL)
        return .failure(.cancelled)
    }

    /// Waits until it answers, and checks whether it can be used.
    private func greet(_ run: RcloneProcess) async throws(ServerFailure) {
        let begin = ContinuousClock.now
        let connection = RcloneConnection(client: client)
        var version: RcloneVersion?
        while version == nil {
            if let end = run.end { throw await program.complaint(end) }
            guard .now - begin < Self.answerTimeout else { throw .unreachable("rclone does not answer") }
            do throws(RcloneError) { version = try await connection.callOnce("core/version", RcloneInput()) } catch {
                // It is not listening yet.
                do { try await Task.sleep(for: .milliseconds(20)) } catch { throw .cancelled }
            }
        }
        if let version, let refusal = RcloneProgram.refusal(of: version.version) { throw refusal }
        guard let password else { return }
        var input = RcloneInput()
        input.configPassword = password
        do throws(RcloneError) { let _: RcloneNothing = try await connection.callOnce("config/unlock", input) } catch {
            throw error.failure(nil)
        }
    }

    /// Ends it; later requests fail.
    package func close() async {
        let run = state.withLock { state in
            state.isClosed = true
            return state.run
        }
        client.close()
        // It removes unfinished files.
        run?.stop(SIGTERM)
        for _ in 0..<100 where run?.end == nil && run != nil {
            // A cancelled task does not wait.
            do { try await Task.sleep(for: .milliseconds(20)) } catch { break }
        }
        run?.stop(SIGKILL)
        folder.remove()
    }
}
