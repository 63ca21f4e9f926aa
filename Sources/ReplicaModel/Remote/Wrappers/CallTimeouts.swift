internal import Threads

/// The timeouts of a store's calls: ends the wait for calls that it does not answer.
///
/// A call without progress for its limit is cancelled. If it still doesn't end, its caller gets an error, and the call is
/// abandoned; it may never return. Until it does, no other call with its key is made, so that an item never has two changes at
/// once. If many are abandoned, no other is made until one of them has ended: each keeps its content, and perhaps a thread of the
/// store.
final class CallTimeouts: Sendable {
    /// What a call is about. Calls with the same key are not made while one of them is abandoned.
    struct Key: Hashable, Sendable {
        enum Kind: Hashable, Sendable {
            case item, listing, recognition, anchor, changes, fetch, change, sync, usage, importEnd

            /// How many times longer it may be silent: a folder that is moved object by object, a large file that the
            /// server copies, or a comparison with a large storage shows no progress.
            fileprivate var slowness: Double {
                switch self {
                case .change, .changes: 12
                case .item, .listing, .recognition, .anchor, .fetch, .sync, .usage, .importEnd: 1
                }
            }
        }

        var kind: Kind
        var identifier: ItemIdentifier?

        /// Whether there can be many at once: a change counts with changes, and a question about an item with such.
        fileprivate var isChange: Bool? {
            switch kind {
            case .change: true
            case .item, .listing, .fetch: false
            case .recognition, .anchor, .changes, .sync, .usage, .importEnd: nil
            }
        }

        /// The error of a call that is not answered: of the item, or of the store if the call is about no item.
        fileprivate var error: RemoteStoreError {
            switch kind {
            case .item, .listing, .fetch, .change: .unanswered
            case .recognition, .anchor, .changes, .sync, .usage, .importEnd: .serverUnreachable
            }
        }
    }

    /// The last sign that a call makes progress.
    final class Progress: Sendable {
        struct Signs {
            /// When the last one came, in seconds.
            var last = 0.0
            /// The longest time without one, in seconds.
            var silence = 0.0
        }

        fileprivate let signs = Locked(Signs(), rank: .innermost)
    }

    private struct Call {
        let key: Key
        let limit: Double
        let progress: Progress
        /// When it was cancelled, in seconds.
        var cancelled: Double?
        /// Whether it was cancelled because it was silent.
        var isSilent = false
        var cancel: @Sendable () -> Void = {}
        var abandon: @Sendable (RemoteStoreError) -> Void = { _ in }
    }

    private struct State {
        var calls: [UInt64: Call] = [:]
        var nextCall: UInt64 = 0
        /// The abandoned calls of each key: changes, and others that were silent.
        var abandoned: [Key: Set<UInt64>] = [:]
        /// Other abandoned calls, which prevent none.
        var abandonedReads: [UInt64: Key] = [:]
        /// How often in a row a key's calls were silent.
        var silences: [Key: Int] = [:]
        /// The longest silence of a call that was answered then, in seconds.
        var slowest: [Key.Kind: Double] = [:]
        /// No call may be silent for longer, in seconds.
        var longest = Double.infinity
        var isTicking = false

        /// Whether so many calls of this kind are abandoned that no other should be made.
        func isFull(ofChanges isChange: Bool) -> Bool {
            guard !abandoned.isEmpty || !abandonedReads.isEmpty else { return false }
            let count = abandoned.reduce(0) { $0 + ($1.key.isChange == isChange ? $1.value.count : 0) }
            return count + abandonedReads.values.count { $0.isChange == isChange } >= CallTimeouts.mostAbandoned
        }
    }

    /// Seconds between the cancellation of a call and the end of the wait for it.
    private static let graceSeconds = 5.0
    /// The maximum of ``State/slowest``: longer silences may be those of a machine that slept.
    private static let mostSlowness = 1_800.0
    /// How often the limit is doubled for calls that are silent again and again.
    private static let mostDoublings = 6
    /// The maximum number of abandoned changes, and of abandoned questions about items: half the threads of a directory store.
    static let mostAbandoned = 8

    private let state = Locked(State())
    private let answer: Double
    private let stall: Double
    private let graceSeconds: Double
    private let now: @Sendable () -> Double

    /// - Parameters:
    ///   - answer: How many seconds a call may be silent.
    ///   - stall: The same for a fetch, for which a program may be waiting.
    init(answer: Double, stall: Double, now: @escaping @Sendable () -> Double) {
        (self.answer, self.stall, self.now) = (answer, stall, now)
        graceSeconds = min(Self.graceSeconds, answer, stall)
    }

    /// Whether a change of the item was abandoned and still runs: it may still read the contents that it was given.
    func isAbandoned(_ identifier: ItemIdentifier) -> Bool {
        state.withLock { $0.abandoned[Key(kind: .change, identifier: identifier)] != nil }
    }

    /// Whether a caller is waiting for a call, for tests: an abandoned one has no caller.
    var isWaiting: Bool { state.withLock { !$0.calls.isEmpty } }

    /// Whether any abandoned call still runs.
    var hasAbandonedCalls: Bool { state.withLock { !$0.abandoned.isEmpty || !$0.abandonedReads.isEmpty } }

    /// Whether so many changes are abandoned that no other should be made.
    var isFullOfChanges: Bool { state.withLock { $0.isFull(ofChanges: true) } }

    /// No call may be silent for longer from now on: the domain stops.
    func limitSilence(seconds: Double) { state.withLock { $0.longest = min($0.longest, seconds) } }

    /// The call makes progress.
    func hear(_ progress: Progress) {
        let now = now()
        progress.signs.withLock { signs in
            signs.silence = max(signs.silence, now - signs.last)
            signs.last = now
        }
    }

    /// Makes a call in a task of its own.
    /// - Throws: Its error; ``RemoteStoreError/unanswered`` or ``RemoteStoreError/serverUnreachable`` if it is silent, or may
    ///   not be made now; ``RemoteStoreError/cancelled`` if the caller is cancelled and it does not end.
    func call<Value: Sendable>(
        _ key: Key, _ progress: Progress = Progress(), on executor: (any TaskExecutor)?,
        _ body: @escaping @Sendable () async throws(RemoteStoreError) -> Value
    ) async throws(RemoteStoreError) -> Value {
        let number = try begin(key, progress)
        let outcome = FirstOutcome<Value>()
        let task = Task(executorPreference: executor) {
            let result: Result<Value, RemoteStoreError>
            do throws(RemoteStoreError) {
                if Task.isCancelled { throw RemoteStoreError.cancelled }  // Before it began: it is never made.
                result = .success(try await body())
            } catch {
                result = .failure(error)
            }
            let ending = self.end(number, key)
            // If it was abandoned, its caller already has an outcome.
            if ending != .abandoned { outcome.take(ending.outcome(of: result, key)) }
        }
        attend(number, cancel: { task.cancel() }, abandon: { outcome.take(.failure($0)) })
        let result = await withTaskCancellationHandler {
            await outcome.value
        } onCancel: {
            cancel(number)
        }
        return try result.get()
    }

    /// Makes a call in the current task, for a caller that another one can replace.
    /// - Parameters:
    ///   - cancel: Cancels the current task.
    ///   - abandon: Called with the error if the call does not even end then. The task has to end after the call, and what
    ///     it would have done next has to be done without it.
    /// - Returns: Nil if the call was abandoned, perhaps before `abandon` is called: its answer is not of interest any more.
    /// - Throws: Like ``call(_:_:on:_:)``.
    func callInPlace<Value>(
        _ key: Key, _ progress: Progress, cancel: @escaping @Sendable () -> Void,
        abandon: @escaping @Sendable (RemoteStoreError) -> Void, body: () async throws(RemoteStoreError) -> Value
    ) async throws(RemoteStoreError) -> Value? {
        let number = try begin(key, progress)
        attend(number, cancel: cancel, abandon: abandon)
        let result: Result<Value, RemoteStoreError>
        do throws(RemoteStoreError) {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        let ending = end(number, key)
        // ``check()`` may be about to do it: no other call may be cancelled in its place.
        if ending == .silent { cancel() }
        return ending == .abandoned ? nil : try ending.outcome(of: result, key).get()
    }

    /// - Returns: The call's number.
    /// - Throws: The error of a call that must not be made now.
    private func begin(_ key: Key, _ progress: Progress) throws(RemoteStoreError) -> UInt64 {
        let now = now()
        progress.signs.withLock { $0 = Progress.Signs(last: now) }
        let base = key.kind == .fetch ? stall : answer * key.kind.slowness
        return try state.withLock { (state) throws(RemoteStoreError) in
            guard state.abandoned.isEmpty || state.abandoned[key] == nil else { throw key.error }
            if key.isChange == false, state.isFull(ofChanges: false) { throw .serverUnreachable }
            // What is merely slow ends in the end.
            let doublings = min(state.silences[key] ?? 0, Self.mostDoublings)
            let limit = max(base, 2 * (state.slowest[key.kind] ?? 0)) * Double(1 << doublings)
            state.nextCall += 1
            state.calls[state.nextCall] = Call(key: key, limit: limit, progress: progress)
            return state.nextCall
        }
    }

    /// From now on the call is watched.
    private func attend(
        _ number: UInt64, cancel: @escaping @Sendable () -> Void,
        abandon: @escaping @Sendable (RemoteStoreError) -> Void
    ) {
        state.withLock { state in
            state.calls[number]?.cancel = cancel
            state.calls[number]?.abandon = abandon
        }
        tick()
    }

    /// How a call has ended.
    private enum Ending {
        case byItself
        /// It had been cancelled because it was silent.
        case silent
        case abandoned

        /// The error for the caller: after a timeout it is unknown whether the call did something.
        func outcome<Value>(
            of result: Result<Value, RemoteStoreError>, _ key: Key
        ) -> Result<Value, RemoteStoreError> {
            if case .failure(.cancelled) = result, self == .silent { return .failure(key.error) }
            return result
        }
    }

    /// The call has ended.
    private func end(_ number: UInt64, _ key: Key) -> Ending {
        state.withLock { state in
            guard let call = state.calls.removeValue(forKey: number) else {
                state.abandonedReads[number] = nil
                state.abandoned[key]?.remove(number)
                if state.abandoned[key]?.isEmpty == true { state.abandoned[key] = nil }
                return .abandoned
            }
            if call.isSilent {
                state.silences[key, default: 0] += 1
            } else if call.cancelled == nil {
                state.silences[key] = nil
                hear(call.progress)
                let silence = min(call.progress.signs.withLock { $0.silence }, Self.mostSlowness)
                if key.kind != .fetch { state.slowest[key.kind] = max(state.slowest[key.kind] ?? 0, silence) }
            }
            return call.isSilent ? .silent : .byItself
        }
    }

    /// The caller no longer waits.
    private func cancel(_ number: UInt64) {
        let now = now()
        let cancel = state.withLock { state -> (@Sendable () -> Void)? in
            guard let call = state.calls[number] else { return nil }
            state.calls[number]?.cancelled = call.cancelled ?? now
            return call.cancel
        }
        cancel?()
    }

    /// Cancels the calls that are silent, and abandons those that don't end.
    func check() {
        let now = now()
        let actions = state.withLock { state in
            var actions: [@Sendable () -> Void] = []
            for (number, call) in state.calls {
                if let cancelled = call.cancelled {
                    guard now - cancelled >= graceSeconds else { continue }
                    state.calls[number] = nil
                    if call.isSilent || call.key.kind == .change {
                        state.abandoned[call.key, default: []].insert(number)
                    } else {
                        // Who gave up reading may read again.
                        state.abandonedReads[number] = call.key
                    }
                    if call.isSilent { state.silences[call.key, default: 0] += 1 }
                    let error = call.isSilent ? call.key.error : .cancelled
                    actions.append { call.abandon(error) }
                } else if now - call.progress.signs.withLock({ $0.last }) >= min(call.limit, state.longest) {
                    state.calls[number]?.cancelled = now
                    state.calls[number]?.isSilent = true
                    actions.append(call.cancel)
                }
            }
            return actions
        }
        for action in actions { action() }
    }

    /// Checks at intervals, as long as there are calls.
    private func tick() {
        let starts = state.withLock { state in
            defer { state.isTicking = true }
            return !state.isTicking
        }
        guard starts else { return }
        let pause = Duration.seconds(min(1, graceSeconds / 4))
        Task {
            repeat {
                try? await Task.sleep(for: pause)  // Never cancelled.
                check()
            } while !state.withLock { state in
                if state.calls.isEmpty { state.isTicking = false }
                return state.calls.isEmpty
            }
        }
    }
}
