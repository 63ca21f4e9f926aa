internal import CFuse
internal import Glibc
internal import Threads

/// The common part of all parked replies: the request, and whether its caller was interrupted.
final class ParkedRequest: Sendable {
    private struct State: @unchecked Sendable {
        // libfuse's request. The thread that takes it owns it.
        var request: OpaquePointer?
        var key: UInt = 0
        var isInterrupted = false
        var handler: (@Sendable () -> Void)?
    }

    private let state: Locked<State>
    /// Kept alive by the session, which outlives every parked request.
    let lot: Unmanaged<ParkingLot>

    /// Parks a request. From here on it may be interrupted, even before this returns.
    init(request: OpaquePointer, lot: Unmanaged<ParkingLot>) {
        state = Locked(State(request: nil), rank: .innermost)
        self.lot = lot
        guard let key = lot._withUnsafeGuaranteedRef({ $0.enter(self) }) else {
            fuse_reply_err(request, ENOTCONN)
            return
        }
        // The key instead of a pointer: the request may have been answered and freed when the interrupt arrives.
        fuse_req_interrupt_func(request, Self.interrupted, UnsafeMutableRawPointer(bitPattern: key))
        state.withLock { state in
            state.request = request
            state.key = key
        }
        // The session may have closed the lot before this request could be refused.
        if lot._withUnsafeGuaranteedRef({ $0.isClosed }) { refuse() }
    }

    /// Called by libfuse when the caller of `request` got a signal. libfuse holds the request's lock during the call.
    private static let interrupted: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Void = {
        request, key in
        let user = fuse_req_userdata(request)!
        Unmanaged<Session>.fromOpaque(user)._withUnsafeGuaranteedRef { session in
            session.lot.request(UInt(bitPattern: key))?.interrupt()
        }
    }

    var isInterrupted: Bool {
        state.withLock { $0.isInterrupted }
    }

    private func interrupt() {
        let handler = state.withLock { state in
            state.isInterrupted = true
            defer { state.handler = nil }
            return state.handler
        }
        handler?()
    }

    func onInterrupt(_ handler: @escaping @Sendable () -> Void) {
        let isLate = state.withLock { state in
            guard !state.isInterrupted else { return true }
            if state.request != nil { state.handler = handler }
            return false
        }
        if isLate { handler() }
    }

    /// The request, once.
    func take() -> OpaquePointer? {
        let (request, key) = state.withLock { state in
            defer {
                state.request = nil
                state.handler = nil
            }
            return (state.request, state.key)
        }
        if request != nil { lot._withUnsafeGuaranteedRef { $0.leave(key) } }
        return request
    }

    /// Ends the request when the session does.
    func refuse() {
        guard let request = take() else { return }
        fuse_reply_err(request, ENOTCONN)
        lot.takeUnretainedValue().answered()
    }
}
