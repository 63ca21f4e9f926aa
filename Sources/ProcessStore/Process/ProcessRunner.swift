import Foundation
import Logging
import ReplicaModel
import SystemPackage
import Threads

/// Keeps a store's program running as long as it is needed: starts it for a call, and restarts it after a failure, with
/// pauses.
final class ProcessRunner: Sendable {
    private struct State {
        var process: StoreProcess?
        /// Its first line, with the current secrets.
        var greeting: HelloLine
        /// Whether the server has rejected the login since the secrets were read.
        var isRejected = false
        /// When they were read again.
        var renewed: ContinuousClock.Instant?
        /// Failures since its last stable run.
        var failures = 0
        /// No start is attempted earlier.
        var pausedUntil: ContinuousClock.Instant?
        var lastFailure: StoreFailure?
        /// Whether the last run ended with this failure.
        var isFailing = false
        /// The first greeting of the store; later ones must promise at least as much.
        var hello: Hello?
        var isClosed = false
    }

    let spool: SpoolFolder
    private let program: StoreProgram
    private let limits: ProcessLimits
    private let log: Logger
    private let secrets: (@Sendable () async -> [String: String]?)?
    private let state: Locked<State>
    private let signalTarget = Locked<(@Sendable (IncomingLine.Signal?) -> Void)?>(nil)

    /// - Parameter secrets: Reads the secrets again; nil if that fails.
    init(
        _ program: StoreProgram, greeting: HelloLine, spool: SpoolFolder, limits: ProcessLimits, log: Logger,
        secrets: (@Sendable () async -> [String: String]?)?
    ) {
        self.program = program
        self.secrets = secrets
        state = Locked(State(greeting: greeting), rank: .storeProcess)
        self.spool = spool
        self.limits = limits
        self.log = log
    }

    deinit {
        state.withLock { $0.process }?.leave()
    }

    /// Sets the receiver of signals; nil means any path.
    func onSignal(_ target: @escaping @Sendable (IncomingLine.Signal?) -> Void) {
        signalTarget.withLock { $0 = target }
    }

    /// A process that has sent its greeting and accepts calls.
    func running() async throws(StoreFailure) -> (StoreProcess, Hello) {
        // A process that is being released is waited for; a failed one is not waited for again.
        await renewLogin()
        while true {
            let (process, isFresh) = try current()
            guard process.isOpen else {
                await process.waitForEnd(orFailure: true)
                continue
            }
            let outcome = await process.hello()
            if case .failure(.notAuthenticated) = outcome { noteRejectedLogin() }
            let hello = try outcome.get()
            try check(hello)
            if isFresh, hello.signals { signalTarget.withLock { $0 }?(nil) }
            return (process, hello)
        }
    }

    /// The server rejects the login: before a later call the secrets are read again, because the user may have changed them.
    func noteRejectedLogin() { state.withLock { $0.isRejected = true } }

    /// Changed secrets need another process.
    private func renewLogin() async {
        guard let secrets else { return }
        let isTime = state.withLock { state in
            guard state.isRejected, state.renewed.map({ .now - $0 > limits.steady / 20 }) ?? true else { return false }
            (state.isRejected, state.renewed) = (false, .now)
            return true
        }
        guard isTime, let now = await secrets() else { return }
        let process = state.withLock { state -> StoreProcess? in
            guard state.greeting.secrets != now else { return nil }
            (state.greeting.secrets, state.pausedUntil) = (now, nil)
            return state.process
        }
        process?.leave()
    }

    /// The program may have been replaced by one that keeps less, which the daemon can't handle while running.
    private func check(_ hello: Hello) throws(StoreFailure) {
        let first = state.withLock { state in
            state.hello = state.hello ?? hello
            return state.hello
        }
        guard first?.level == hello.level, first?.takesAnyNames == hello.takesAnyNames else {
            throw .unreachable("the store's properties have changed: remount the domain")
        }
    }

    private func current() throws(StoreFailure) -> (StoreProcess, isFresh: Bool) {
        try state.withLock { (state) throws(StoreFailure) in
            if let process = state.process {
                // It failed and has not ended yet, which may take a second or for ever.
                if let failure = process.state.withLock({ $0.failed }) { throw failure }
                return (process, false)
            }
            if state.isClosed { throw .unreachable("the store is closed") }
            if let until = state.pausedUntil, until > .now, let failure = state.lastFailure { throw failure }
            let process = try start(state.greeting)
            state.process = process
            return (process, true)
        }
    }

    private func start(_ greeting: HelloLine) throws(StoreFailure) -> StoreProcess {
        spool.empty()
        do throws(Errno) {
            return try StoreProcess(
                program, greeting: greeting, environment: StoreEnvironment.entries(), limits: limits, log: log,
                signal: { [weak self] signal in
                    if let target = self?.signalTarget.withLock({ $0 }) { target(signal) }
                },
                ended: { [weak self] end in self?.note(end) })
        } catch {
            throw .unreachable("\(program.path) can't be started: \(error)")
        }
    }

    private func note(_ end: StoreProcess.End) {
        state.withLock { state in
            state.process = nil
            state.lastFailure = end.failure ?? state.lastFailure
            state.isFailing = end.failure != nil
            if end.length >= limits.steady { state.failures = 0 }
            guard end.failure != nil else { return }
            state.failures += 1
            let doublings = min(state.failures - 2, 16)
            guard doublings >= 0 else { return }
            let pause = min(limits.firstPause * (1 << doublings), limits.longestPause)
            state.pausedUntil = .now + pause
        }
    }

    /// Why it is not running; nil if it is, or was released.
    var trouble: String? {
        state.withLock { state in
            guard let process = state.process else { return state.isFailing ? state.lastFailure?.message : nil }
            return process.state.withLock { $0.failed }?.message
        }
    }

    /// Releases the process and starts no other; returns when it has ended.
    func close() async {
        let process = state.withLock { state in
            state.isClosed = true
            return state.process
        }
        process?.leave()
        await process?.waitForEnd()
    }
}
