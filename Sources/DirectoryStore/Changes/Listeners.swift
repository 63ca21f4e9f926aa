import ReplicaModel
import Threads

/// Those who wait for signals.
final class Listeners: Sendable {
    private struct State {
        var streams: [Int: AsyncStream<Void>.Continuation] = [:]
        var count = 0
        var isFinished = false
    }

    private let state = Locked(State())

    func signal() {
        for stream in state.withLock({ Array($0.streams.values) }) { stream.yield() }
    }

    /// Ends all streams, now and later ones.
    func finish() {
        let streams = state.withLock {
            $0.isFinished = true
            return Array($0.streams.values)
        }
        for stream in streams { stream.finish() }
    }

    /// A stream of which the newest signal waits to be read.
    func stream() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state -> Int? in
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
