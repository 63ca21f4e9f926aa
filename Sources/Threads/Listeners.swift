/// Broadcasts elements to listeners, each with its own stream. Costs almost nothing without listeners. Safe from any
/// thread.
package final class Listeners<Element: Sendable>: Sendable {
    package typealias Policy = AsyncStream<Element>.Continuation.BufferingPolicy

    private struct State {
        var streams: [UInt64: AsyncStream<Element>.Continuation] = [:]
        var count: UInt64 = 0
        var isFinished = false
    }

    private let policy: Policy
    private let state = Locked(State())

    /// - Parameter policy: The buffering policy for slow listeners.
    package init(keeping policy: Policy) {
        self.policy = policy
    }

    /// Whether there are listeners.
    package var isHeard: Bool { state.withLock { !$0.streams.isEmpty } }

    /// Sends an element to all listeners.
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

    /// A stream for one listener, which ends its subscription when it is released.
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
    /// For signals: a listener learns that there were some, not how many.
    package convenience init() { self.init(keeping: .bufferingNewest(1)) }

    /// Signals all listeners.
    package func signal() { yield(()) }
}
