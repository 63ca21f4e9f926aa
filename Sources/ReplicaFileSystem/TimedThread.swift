internal import CLinux
internal import Glibc

/// Work on a thread of its own that somebody waits for, but not for ever.
final class TimedThread: @unchecked Sendable {  // The mutex guards the state.
    /// How long somebody who waits sleeps before the thread is looked at, in nanoseconds.
    private static let pause = 250_000_000

    private enum State {
        case running
        case finished(Bool)
        case givenUp
    }

    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var state = State.running
    /// Nil until it runs.
    private var thread: Int32?

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
        let box = Unmanaged.passRetained(
            Box { [self] in
                pthread_mutex_lock(mutex)
                self.thread = gettid()
                pthread_mutex_unlock(mutex)
                body()
            })
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

    /// Waits for the result; false when ``WaitLimit`` is at an end before.
    /// - Parameter givingUp: Called before the work can learn that nobody waits.
    func wait(givingUp: () -> Void) -> Bool {
        var limit = WaitLimit()
        var next = timespec()
        clock_gettime(CLOCK_MONOTONIC, &next)
        let start = next.seconds
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if case .finished(let result) = state { return result }
            next.add(nanoseconds: Self.pause)
            while case .running = state, pthread_cond_timedwait(condition, mutex, &next) != ETIMEDOUT {}
            guard case .running = state else { continue }
            clock_gettime(CLOCK_MONOTONIC, &next)
            guard limit.isOver(after: next.seconds - start, thread.flatMap(ThreadSleep.init)) else { continue }
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

extension timespec {
    fileprivate var seconds: Double { Double(tv_sec) + Double(tv_nsec) / 1e9 }

    fileprivate mutating func add(nanoseconds: Int) {
        tv_nsec += nanoseconds
        tv_sec += tv_nsec / 1_000_000_000
        tv_nsec %= 1_000_000_000
    }
}
