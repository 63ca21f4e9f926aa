import CLinux
import ChildProcess
import Foundation
import Glibc
import Logging
import ReplicaModel
import SystemPackage
import Threads

/// One run of a store's program, as seen by its callers. A separate thread does the work (``ProcessLoop``).
final class StoreProcess: Sendable {
    /// How a run ended.
    struct End: Sendable {
        /// Nil if it was released while idle.
        var failure: StoreFailure?
        var length: Duration
    }

    /// A task that waits for the end.
    struct EndWaiter {
        let task: CheckedContinuation<Void, Never>
        /// Whether it also returns when the process is being killed, which may take for ever.
        let isFailureEnough: Bool
    }

    struct State {
        /// Bytes to write.
        var outgoing: [UInt8] = []
        var calls: [Int64: PendingCall] = [:]
        /// Cancelled calls that the store has not been told about yet.
        var cancelled: [Int64] = []
        var count: Int64 = 0
        var hello: Result<Hello, StoreFailure>?
        var helloWaiters: [CheckedContinuation<Result<Hello, StoreFailure>, Never>] = []
        /// Whether no more calls are accepted, and why.
        var closed: StoreFailure?
        /// Why it is being killed.
        var failed: StoreFailure?
        /// Whether it will be released.
        var isToLeave = false
        var end: End?
        var endWaiters: [EndWaiter] = []
    }

    let limits: ProcessLimits
    let state = Locked(State())
    let wakeUp: OwnedDescriptor

    /// Starts the program asynchronously, on a thread that lives as long as the program. ``hello()`` returns its
    /// greeting.
    /// - Parameters:
    ///   - signal: Called for each signal, on the thread.
    ///   - ended: Called once, when the process has ended.
    /// - Throws: An errno, if this process has no free descriptor.
    init(
        _ program: StoreProgram, greeting: HelloLine, environment: [String], limits: ProcessLimits, log: Logger,
        signal: @escaping @Sendable (IncomingLine.Signal) -> Void, ended: @escaping @Sendable (End) -> Void
    ) throws(Errno) {
        self.limits = limits
        wakeUp = try OwnedDescriptor(checking: cl_eventfd(0, CL_EFD_CLOEXEC | CL_EFD_NONBLOCK))
        let folders = [greeting.spool, greeting.state]
        enqueue(greeting)
        Thread.detachNewThread { [self] in
            var loop = ProcessLoop(self, log, signal: signal)
            let end = loop.run(program, folders: folders, environment: environment)
            ended(end)
            finish(end)
        }
    }

    /// The store's greeting; waits for it.
    func hello() async -> Result<Hello, StoreFailure> {
        await withCheckedContinuation { continuation in
            let known = state.withLock { state in
                if state.hello == nil { state.helloWaiters.append(continuation) }
                return state.hello
            }
            if let known { continuation.resume(returning: known) }
        }
    }

    /// Returns when it has ended.
    /// - Parameter orFailure: Whether to return also when it is being killed.
    func waitForEnd(orFailure isFailureEnough: Bool = false) async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.end != nil || isFailureEnough && state.failed != nil { return true }
                state.endWaiters.append(EndWaiter(task: continuation, isFailureEnough: isFailureEnough))
                return false
            }
            if isOver { continuation.resume() }
        }
    }

    /// Sends a call.
    /// - Returns: Nil if the process accepts no more calls.
    func call(
        _ name: String, with arguments: some Encodable, isFetch: Bool, keeping kept: [any Sendable],
        progress: @escaping @Sendable (Int64) -> Void
    ) -> PendingCall? {
        let id = state.withLock { state in
            state.count += 1
            return state.count
        }
        let line = CallLine(id: id, call: name, with: arguments).bytes
        let call = PendingCall(id, isFetch: isFetch, keeping: kept, progress: progress)
        let isTaken = state.withLock { state in
            guard state.closed == nil, !state.isToLeave else { return false }
            state.calls[id] = call
            state.outgoing += line
            return true
        }
        if isTaken { wake() }
        return isTaken ? call : nil
    }

    /// Called when the caller no longer waits.
    func cancel(_ call: PendingCall) {
        call.finish(.error(WireError(code: "cancelled")))
        let isKnown = state.withLock { state in
            guard state.calls[call.id] != nil else { return false }
            state.cancelled.append(call.id)
            return true
        }
        if isKnown { wake() }
    }

    /// Releases the process: it gets the end of its input, and is killed if it does not end.
    func leave() {
        state.withLock { $0.isToLeave = true }
        wake()
    }

    /// Whether calls are accepted.
    var isOpen: Bool { state.withLock { $0.closed == nil && !$0.isToLeave } }

    func enqueue(_ line: some OutgoingLine) {
        let bytes = line.bytes
        state.withLock { $0.outgoing += bytes }
    }

    /// Delivers the store's greeting, once.
    func answer(_ hello: Result<Hello, StoreFailure>) {
        let waiters = state.withLock { state in
            guard state.hello == nil else { return [CheckedContinuation<Result<Hello, StoreFailure>, Never>]() }
            state.hello = hello
            defer { state.helloWaiters = [] }
            return state.helloWaiters
        }
        for waiter in waiters { waiter.resume(returning: hello) }
    }

    /// Accepts no more calls; those in flight will get no answer.
    /// - Parameter isFault: Whether it is killed.
    func close(_ failure: StoreFailure, isFault: Bool) {
        let (calls, waiters) = state.withLock { state in
            state.closed = state.closed ?? failure
            if isFault { state.failed = state.failed ?? failure }
            defer {
                state.calls = [:]
                if isFault { state.endWaiters.removeAll(where: \.isFailureEnough) }
            }
            return (state.calls, isFault ? state.endWaiters.filter(\.isFailureEnough) : [])
        }
        for call in calls.values { call.finish(.lost(failure.message)) }
        answer(.failure(failure))
        for waiter in waiters { waiter.task.resume() }
    }

    private func finish(_ end: End) {
        close(end.failure ?? .unreachable("the store was stopped"), isFault: end.failure != nil)
        let waiters = state.withLock { state in
            state.end = end
            defer { state.endWaiters = [] }
            return state.endWaiters
        }
        for waiter in waiters { waiter.task.resume() }
    }

    private func wake() {
        var one: UInt64 = 1
        write(wakeUp.raw, &one, 8)
    }
}
