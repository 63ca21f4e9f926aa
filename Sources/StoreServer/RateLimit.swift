import Dispatch
import Threads

/// Returns true at most once per interval.
final class RateLimit: Sendable {
    private let every: UInt64
    private let last = Locked(DispatchTime.now().uptimeNanoseconds)

    init(every: UInt64) {
        self.every = every
    }

    var isTime: Bool {
        let now = DispatchTime.now().uptimeNanoseconds
        return last.withLock { last in
            guard now - last >= every else { return false }
            last = now
            return true
        }
    }
}
