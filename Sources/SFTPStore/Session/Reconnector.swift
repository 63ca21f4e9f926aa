import ReplicaModel
import Threads

/// Keeps a session as long as it is needed: connects for a call, and reconnects after a failure, with pauses.
final class Reconnector: Sendable {
    private typealias Opening = Promise<Result<SFTPSession, SFTPFailure>>

    private struct State {
        var session: SFTPSession?
        var opening: Opening?
        /// Failures since the last connection that lasted.
        var failures = 0
        /// No connection is attempted earlier.
        var pausedUntil: ContinuousClock.Instant?
        var lastFailure: SFTPFailure?
        var isClosed = false
        /// Files of ours that a lost connection left behind.
        var leftovers: Set<[UInt8]> = []
    }

    let address: SFTPAddress
    private let command: SSHCommand
    private let limits: ConnectionLimits
    private let state = Locked(State(), rank: .storeProcess)
    /// Called with each new session before anyone else uses it.
    private let check: @Sendable (SFTPSession) async throws(RequestFailure) -> Void

    init(
        _ address: SFTPAddress, _ command: SSHCommand, _ limits: ConnectionLimits,
        check: @escaping @Sendable (SFTPSession) async throws(RequestFailure) -> Void
    ) {
        (self.address, self.command, self.limits, self.check) = (address, command, limits, check)
    }

    deinit {
        state.withLock { $0.session }?.connection.letGo()
    }

    /// A session that accepts requests.
    func session() async throws(RequestFailure) -> SFTPSession {
        let (opening, isMine) = try current()
        if isMine { Task { await open(opening) } }
        guard let outcome = await opening.value() else { throw .cancelled }
        do throws(SFTPFailure) { return try outcome.get() } catch { throw .lost(error) }
    }

    /// - Returns: The opening of the session, and whether the caller has to carry it out.
    private func current() throws(RequestFailure) -> (Opening, Bool) {
        try state.withLock { (state) throws(RequestFailure) in
            if let opening = state.opening { return (opening, false) }
            if let session = state.session {
                if session.connection.isOpen {
                    let ready = Opening()
                    ready.fulfil(.success(session))
                    return (ready, false)
                }
                note(session, &state)
            }
            if state.isClosed { throw .lost(.unreachable("\(address): the store is closed")) }
            if let until = state.pausedUntil, until > .now, let failure = state.lastFailure { throw .lost(failure) }
            let opening = Opening()
            state.opening = opening
            return (opening, true)
        }
    }

    /// A session has ended.
    private func note(_ session: SFTPSession, _ state: inout State) {
        state.session = nil
        state.lastFailure = session.connection.state.withLock { $0.ended } ?? state.lastFailure
        if .now - session.connection.begin >= limits.steady {
            (state.failures, state.pausedUntil) = (0, nil)
        } else {
            pause(&state)
        }
    }

    private func pause(_ state: inout State) {
        state.failures += 1
        // The first retry is immediate.
        guard state.failures > 1 else { return }
        let pause = min(limits.firstPause * (1 << min(state.failures - 2, 16)), limits.longestPause)
        state.pausedUntil = .now + pause
    }

    private func open(_ opening: Opening) async {
        let outcome = await opened()
        let isClosed = state.withLock { state in
            state.opening = nil
            switch outcome {
            case .success(let session):
                (state.session, state.lastFailure) = (state.isClosed ? nil : session, nil)
            case .failure(let failure):
                state.lastFailure = failure
                pause(&state)
            }
            return state.isClosed
        }
        if isClosed, case .success(let session) = outcome { session.connection.letGo() }
        opening.fulfil(outcome)
    }

    private func opened() async -> Result<SFTPSession, SFTPFailure> {
        do throws(SFTPFailure) {
            let session = try await SFTPSession.open(address, command, limits)
            do throws(RequestFailure) { try await check(session) } catch {
                session.connection.letGo()
                for path in session.trials { removeLater(path) }
                switch error {
                case .lost(let failure): throw failure
                case .status(let status): throw .unreachable("\(address): \(status.words)")
                case .cancelled: throw .unreachable("\(address): cancelled")
                }
            }
            for path in state.withLock({ $0.leftovers }) { _ = session.send(.remove(path)) }
            state.withLock { $0.leftovers = [] }
            return .success(session)
        } catch {
            return .failure(error)
        }
    }

    /// The process ID of the current session's ssh; 0 if there is none.
    var process: Int32 { state.withLock { $0.session?.connection.process ?? 0 } }

    /// The number of content bytes in a packet of the current session.
    var sizeOfPackets: Int { state.withLock { $0.session?.sizes.write } ?? TransferSizes().write }

    /// Removes a file of ours when the server is reached again.
    func removeLater(_ path: [UInt8]) { state.withLock { _ = $0.leftovers.insert(path) } }

    /// Nothing is left to remove.
    func isRemoved(_ path: [UInt8]) { state.withLock { _ = $0.leftovers.remove(path) } }

    var hasLeftovers: Bool { state.withLock { !$0.leftovers.isEmpty } }

    /// Why there is no connection now; nil if there is one, or none was needed.
    var trouble: String? {
        state.withLock { state in
            if let session = state.session, let failure = session.connection.state.withLock({ $0.ended }) {
                return failure.message
            }
            return state.lastFailure?.message
        }
    }

    /// Ends the connection and makes no other; returns when all its processes have ended.
    func close() async {
        let session = state.withLock { state in
            state.isClosed = true
            return state.session
        }
        await session?.connection.leave()
    }
}
