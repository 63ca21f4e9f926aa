import ReplicaModel
import Threads

/// Interprets a store's lines for its running calls. Used by the process's thread only.
struct Conversation {
    /// The action after a timeout.
    enum Due {
        case nothing
        case idle
        /// The process has to be ended, for the given reason.
        case silent(String)
    }

    private let process: StoreProcess
    private let signal: @Sendable (IncomingLine.Signal) -> Void
    private var hello: Hello?
    /// When the store last said that it is being opened.
    private var opening: ContinuousClock.Instant?
    /// When the last line about each call came.
    private var heard: [Int64: ContinuousClock.Instant] = [:]
    private var cancelled: [Int64: ContinuousClock.Instant] = [:]
    private var busy: ContinuousClock.Instant?
    private var signals: (begin: ContinuousClock.Instant, count: Int)?
    /// The store's own reason why it can't be opened.
    private(set) var refusal: StoreFailure?

    init(_ process: StoreProcess, signal: @escaping @Sendable (IncomingLine.Signal) -> Void) {
        self.process = process
        self.signal = signal
    }

    /// Handles a line.
    /// - Returns: What is wrong with it, if the run has to end.
    mutating func take(_ line: [UInt8], now: ContinuousClock.Instant) -> String? {
        do throws(IncomingLine.Malformed) {
            return hello == nil ? try takeHello(line, now) : try takeNews(line, now)
        } catch {
            return error.reason
        }
    }

    private mutating func takeHello(
        _ bytes: [UInt8], _ now: ContinuousClock.Instant
    ) throws(IncomingLine.Malformed) -> String? {
        // Everything after a refusal is ignored.
        if refusal != nil { return nil }
        let line = try IncomingLine.read(bytes)
        if let error = line.error {
            refusal = StoreFailure(error)
            return nil
        }
        if line.isOpening {
            opening = now
            return nil
        }
        let hello = try IncomingLine.read(Hello.self, bytes)
        self.hello = hello
        process.answer(.success(hello))
        return nil
    }

    private mutating func takeNews(
        _ bytes: [UInt8], _ now: ContinuousClock.Instant
    ) throws(IncomingLine.Malformed) -> String? {
        let line = try IncomingLine.read(bytes)
        if let told = line.signal { return take(told, now) }
        guard let id = line.id else { return line.isOpening ? nil : "a line without an id" }
        guard let call = process.state.withLock({ $0.calls[id] }) else {
            return "an answer to call \(id), which is not in flight"
        }
        if line.hasResult || line.error != nil {
            forget(id)
            call.finish(line.error.map(PendingCall.Outcome.error) ?? .answer(bytes))
            busy = now
            return nil
        }
        if let count = line.progress {
            if call.take(progress: count) { heard[id] = now }
        } else if let piece = line.wrote {
            guard let isMore = call.take(wrote: piece) else {
                call.finish(.lost("the store reported an invalid range of bytes"))
                process.cancel(call)
                return nil
            }
            if isMore { heard[id] = now }
        } else {
            return "a line about call \(id) without a result, an error or progress"
        }
        return nil
    }

    private mutating func take(_ told: IncomingLine.Signal, _ now: ContinuousClock.Instant) -> String? {
        if let (begin, count) = signals, now - begin < .seconds(1) {
            guard count < process.limits.signalsPerSecond else { return "too many signals" }
            signals = (begin, count + 1)
        } else {
            signals = (now, 1)
        }
        signal(told)
        return nil
    }

    private mutating func forget(_ id: Int64) {
        heard[id] = nil
        cancelled[id] = nil
        process.state.withLock { _ = $0.calls.removeValue(forKey: id) }
    }

    /// Tells the store which calls are no longer wanted.
    mutating func sendCancellations(now: ContinuousClock.Instant) {
        let fresh = process.state.withLock { state in
            defer { state.cancelled = [] }
            return state.cancelled.filter { state.calls[$0] != nil }
        }
        for id in fresh { cancel(id, now) }
    }

    private mutating func cancel(_ id: Int64, _ now: ContinuousClock.Instant) {
        guard cancelled[id] == nil else { return }
        cancelled[id] = now
        process.enqueue(CancelLine(cancel: id))
    }

    /// The earliest time at which ``due(_:begin:now:)`` may return something.
    func deadline(_ limits: ProcessLimits, begin: ContinuousClock.Instant) -> ContinuousClock.Instant {
        guard let hello else { return min((opening ?? begin) + limits.hello, begin + limits.opening) }
        let known = process.state.withLock { $0.calls.keys.map { $0 } }
        if known.isEmpty {
            return hello.signals ? .now + .seconds(3_600) : (busy ?? begin) + limits.idle
        }
        return known.map { id in
            if let since = cancelled[id] { return since + limits.answerToCancel }
            return (heard[id] ?? .now) + limits.silence
        }.min() ?? .now
    }

    /// The actions that are due; calls that were silent for too long are cancelled here.
    mutating func due(_ limits: ProcessLimits, begin: ContinuousClock.Instant, now: ContinuousClock.Instant) -> Due {
        guard let hello else {
            if now - begin >= limits.opening { return .silent("the store could not be opened in time") }
            let isSilent = now - (opening ?? begin) >= limits.hello
            return isSilent ? .silent("the store did not say hello in time") : .nothing
        }
        let calls = process.state.withLock { $0.calls }
        if calls.isEmpty {
            return !hello.signals && now - (busy ?? begin) >= limits.idle ? .idle : .nothing
        }
        busy = now
        for (id, call) in calls {
            if let since = cancelled[id] {
                if now - since >= limits.answerToCancel { return .silent("the store does not answer") }
            } else if let last = heard[id] {
                guard now - last >= limits.silence else { continue }
                call.finish(.lost("the store timed out"))
                cancel(id, now)
            } else {
                heard[id] = now
            }
        }
        return .nothing
    }
}
