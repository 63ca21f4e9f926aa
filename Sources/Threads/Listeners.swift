/// Those who listen to something, each by a stream of its own. Costs nearly nothing while nobody does. Safe from any thread.
package final class Listeners<Element: Sendable>: Sendable {
    package typealias Policy = AsyncStream<Element>.Continuation.BufferingPolicy

    private struct State {
        var streams: [UInt64: AsyncStream<Element>.Continuation] = [:]
        var count: UInt64 = 0
        var isFinished = false
    }

    private let policy: Policy
    private let state = Locked(State())

    /// - Parameter policy: What is kept for who reads slower than it comes.
    package init(keeping policy: Policy) {
        self.policy = policy
    }

    /// Whether anybody listens.
    package var isHeard: Bool { state.withLock { !$0.streams.isEmpty } }

    /// Tells all.
    package func yield(_ element: Element) {
        for stream in state.withLock({ Array($0.streams.values) }) { stream.yield(element) }
    }

    /// Ends all streams, now and later ones.
    package func finish() {
        let streams = state.withLock { state in
            state.isFinished = true
            return Array(state.streams.values)
        }
        for stream in streams { stream.finish() }
    }

    /// A stream for one listener; it is told no more when nobody has it any more.
    package func stream() -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream<Element>.makeStream(bufferingPolicy: policy)
        let number = state.withLock { state -> UInt64? in
            if state.isFinished { return nil }
            state.count += 1
            state.streams[state.count] = continuation
            return state.count
        }
        guard let number else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.streams.removeValue(forKey: number) }
        }
        return stream
    }
}

extension Listeners<Void> {
    /// For signals: that there were some is kept for who has not read them, and not how many.
    package convenience init() { self.init(keeping: .bufferingNewest(1)) }

    /// Tells all.
    package func signal() { yield(()) }
}
