internal import Glibc
internal import Threads

/// Wakes tasks that wait for work. Signalling is cheap and may be done from any thread.
final class WakeSignal: Sendable {
    private struct State {
        var count: UInt64 = 0
        var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var nextWaiter: UInt64 = 0
    }
    private let state = Locked(State())

    /// How often it was signalled.
    var mark: UInt64 { state.withLock { $0.count } }

    func signal() {
        let waiting = state.withLock { state in
            state.count += 1
            defer { state.waiting.removeAll() }
            return Array(state.waiting.values)
        }
        for one in waiting { one.resume() }
    }

    /// Returns once a signal came after `mark`, at `time`, or when the task is cancelled.
    func wait(since mark: UInt64, until time: Double?, now: @escaping @Sendable () -> Double) async {
        let alarm = time.map { time in
            Task {
                let seconds = min(max(0, time - now()), 3600)
                // Cancelled if the signal comes first.
                try? await Task.sleep(for: .seconds(seconds))
                if !Task.isCancelled { self.signal() }
            }
        }
        defer { alarm?.cancel() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isLate = state.withLock { state in
                    guard state.count == mark, !Task.isCancelled else { return true }
                    state.waiting[state.nextWaiter] = continuation
                    state.nextWaiter += 1
                    return false
                }
                if isLate { continuation.resume() }
            }
        } onCancel: {
            signal()
        }
    }
}
