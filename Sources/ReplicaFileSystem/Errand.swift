internal import Glibc

/// Work on a thread of its own that somebody waits for, but not for ever.
final class Errand: @unchecked Sendable {  // The mutex guards the state.
    /// How long is waited, in seconds: a local system call takes less even on a slow disk, unless something holds it.
    static let patience = 2

    private enum State {
        case running
        case finished(Bool)
        case givenUp
    }

    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var state = State.running

    init() {
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Starts the thread. False when there is none to be had.
    func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        let box = Unmanaged.passRetained(Box(body))
        var thread = pthread_t()
        guard pthread_create(&thread, nil, Self.run, box.toOpaque()) == 0 else {
            box.release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    /// Says that the work is done. False when nobody waits any more.
    func finish(_ result: Bool) -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        if case .givenUp = state { return false }
        state = .finished(result)
        pthread_cond_signal(condition)
        return true
    }

    /// Waits for the result; false when it does not come.
    /// - Parameter givingUp: Called before the work can learn that nobody waits.
    func wait(givingUp: () -> Void) -> Bool {
        var end = timespec()
        clock_gettime(CLOCK_MONOTONIC, &end)
        end.tv_sec += Self.patience
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if case .finished(let result) = state { return result }
            guard pthread_cond_timedwait(condition, mutex, &end) == ETIMEDOUT else { continue }
            if case .finished(let result) = state { return result }
            givingUp()
            state = .givenUp
            return false
        }
    }

    private final class Box: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) {
            self.body = body
        }
    }

    private static let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
        guard let argument else { return nil }
        Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body()
        return nil
    }
}
