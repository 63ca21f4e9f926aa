internal import Threads

/// Ends the wait for calls that a store does not answer.
///
/// A call without progress for its limit is cancelled. If it still doesn't end, its caller gets an error, and the call is left:
/// it may run for ever. As long as it does, no other call with its key is made, so that an item never has two changes at once.
final class CallWatch: Sendable {
    /// What a call is about. Calls with the same key are not made while one of them is left.
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
        var leave: @Sendable (RemoteStoreError) -> Void = { _ in }
    }

    private struct State {
        var calls: [UInt64: Call] = [:]
        var nextCall: UInt64 = 0
        /// The calls with a key that are left: changes, and others that were silent.
        var left: [Key: Set<UInt64>] = [:]
        /// How often in a row a key's calls were silent.
        var silences: [Key: Int] = [:]
        /// The longest silence of a call that was answered then, in seconds.
        var slowest: [Key.Kind: Double] = [:]
        /// No call may be silent for longer, in seconds.
        var longest = Double.infinity
        var isTicking = false
    }

    /// Seconds between the cancellation of a call and the end of the wait for it.
    private static let grace = 5.0
    /// The maximum of ``State/slowest``: longer silences may be those of a machine that slept.
    private static let mostSlowness = 1_800.0
    /// How often the limit is doubled for calls that are silent again and again.
    private static let mostDoublings = 6

    private let state = Locked(State())
    private let answer: Double
    private let stall: Double
    private let grace: Double
    private let now: @Sendable () -> Double

    /// - Parameters:
    ///   - answer: How many seconds a call may be silent.
    ///   - stall: The same for a fetch, for which a program may be waiting.
    init(answer: Double, stall: Double, now: @escaping @Sendable () -> Double) {
        (self.answer, self.stall, self.now) = (answer, stall, now)
        grace = min(Self.grace, answer, stall)
    }

    /// Whether a change of the item was left and still runs: it may still read the contents that it was given.
    func isLeft(_ identifier: ItemIdentifier) -> Bool {
        state.withLock { $0.left[Key(kind: .change, identifier: identifier)] != nil }
    }

    /// Whether any call was left and still runs.
    var hasLeftCalls: Bool { state.withLock { !$0.left.isEmpty } }

    /// No call may be silent for longer from now on: the domain stops.
    func hurry(seconds: Double) { state.withLock { $0.longest = min($0.longest, seconds) } }

    /// The call makes progress.
    func hear(_ progress: Progress) {
        let now = now()
        progress.signs.withLock { signs in
            signs.silence = max(signs.silence, now - signs.last)
            signs.last = now
        }
    }

    /// Makes a call in a task of its own.
    /// - Throws: Its error; ``RemoteStoreError/unanswered`` or ``RemoteStoreError/serverUnreachable`` if it is silent;
    ///   ``RemoteStoreError/cancelled`` if the caller is cancelled and it does not end.
    func call<Value: Sendable>(
        _ key: Key, _ progress: Progress = Progress(), on executor: (any TaskExecutor)?,
        _ body: @escaping @Sendable () async throws(RemoteStoreError) -> Value
    ) async throws(RemoteStoreError) -> Value {
        guard let number = begin(key, progress) else { throw key.error }
        let outcome = FirstOutcome<Value>()
        let task = Task(executorPreference: executor) {
            if key.kind == .change { BackgroundPriority.take() }
            do throws(RemoteStoreError) {
                if Task.isCancelled { throw RemoteStoreError.cancelled }  // Before it began: it is never made.
                let value = try await body()
                self.end(number, key)
                outcome.take(.success(value))
            } catch {
                outcome.take(.failure(self.end(number, key) && error == .cancelled ? key.error : error))
            }
        }
        state.withLock { state in
            state.calls[number]?.cancel = { task.cancel() }
            state.calls[number]?.leave = { outcome.take(.failure($0)) }
        }
        tick()
        let result = await withTaskCancellationHandler {
            await outcome.value
        } onCancel: {
            cancel(number)
        }
        return try result.get()
    }

    /// - Returns: The call's number; nil if it must not be made now.
    private func begin(_ key: Key, _ progress: Progress) -> UInt64? {
        let now = now()
        progress.signs.withLock { $0.last = now }
        let base = key.kind == .fetch ? stall : answer * key.kind.slowness
        return state.withLock { state in
            guard state.left[key] == nil else { return nil }
            // What is merely slow ends in the end.
            let doublings = min(state.silences[key] ?? 0, Self.mostDoublings)
            let limit = max(base, 2 * (state.slowest[key.kind] ?? 0)) * Double(1 << doublings)
            state.nextCall += 1
            state.calls[state.nextCall] = Call(key: key, limit: limit, progress: progress)
            return state.nextCall
        }
    }

    /// The call has ended by itself.
    /// - Returns: Whether it had been cancelled because it was silent.
    @discardableResult
    private func end(_ number: UInt64, _ key: Key) -> Bool {
        return state.withLock { state in
            guard let call = state.calls.removeValue(forKey: number) else {
                state.left[key]?.remove(number)
                if state.left[key]?.isEmpty == true { state.left[key] = nil }
                return true
            }
            if call.isSilent {
                state.silences[key, default: 0] += 1
            } else if call.cancelled == nil {
                state.silences[key] = nil
                hear(call.progress)
                let silence = min(call.progress.signs.withLock { $0.silence }, Self.mostSlowness)
                if key.kind != .fetch { state.slowest[key.kind] = max(state.slowest[key.kind] ?? 0, silence) }
            }
            return call.isSilent
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

    /// Cancels the calls that are silent, and leaves those that don't end.
    func check() {
        let now = now()
        let deeds = state.withLock { state in
            var deeds: [@Sendable () -> Void] = []
            for (number, call) in state.calls {
                if let cancelled = call.cancelled {
                    guard now - cancelled >= grace else { continue }
                    state.calls[number] = nil
                    // Who gave up reading may read again.
                    if call.isSilent || call.key.kind == .change { state.left[call.key, default: []].insert(number) }
                    if call.isSilent { state.silences[call.key, default: 0] += 1 }
                    let error = call.isSilent ? call.key.error : .cancelled
                    deeds.append { call.leave(error) }
                } else if now - call.progress.signs.withLock({ $0.last }) >= min(call.limit, state.longest) {
                    state.calls[number]?.cancelled = now
                    state.calls[number]?.isSilent = true
                    deeds.append(call.cancel)
                }
            }
            return deeds
        }
        for deed in deeds { deed() }
    }

    /// Checks at intervals, as long as there are calls.
    private func tick() {
        let starts = state.withLock { state in
            defer { state.isTicking = true }
            return !state.isTicking
        }
        guard starts else { return }
        let pause = Duration.seconds(min(1, grace / 4))
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

/// The first outcome of several, for one task that waits for it.
private final class FirstOutcome<Value: Sendable>: Sendable {
    private struct State {
        var outcome: Result<Value, RemoteStoreError>?
        var waiting: CheckedContinuation<Result<Value, RemoteStoreError>, Never>?
    }

    private let state = Locked(State())

    var value: Result<Value, RemoteStoreError> {
        get async {
            await withCheckedContinuation { continuation in
                let outcome = state.withLock { state -> Result<Value, RemoteStoreError>? in
                    if state.outcome == nil { state.waiting = continuation }
                    return state.outcome
                }
                if let outcome { continuation.resume(returning: outcome) }
            }
        }
    }

    /// Later outcomes are ignored.
    func take(_ outcome: Result<Value, RemoteStoreError>) {
        let waiting = state.withLock { state in
            defer { state.waiting = nil }
            if state.outcome == nil { state.outcome = outcome }
            return state.waiting
        }
        waiting?.resume(returning: outcome)
    }
}
