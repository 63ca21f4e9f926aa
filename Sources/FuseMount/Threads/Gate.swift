internal import Glibc

/// A value behind a mutex that threads can wait on until it is as they need it.
final class Gate<Value>: @unchecked Sendable {
    // Unchecked: the value is only touched with the mutex held.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var value: Value

    init(_ value: Value) {
        self.value = value
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Works on the value, then has the threads that wait look again.
    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        // Before the lock is left: whoever waited may free all this right after.
        defer { pthread_cond_broadcast(condition) }
        return try body(&value)
    }

    /// Waits until `isReady` says so, then works on the value under the same lock.
    @discardableResult
    func wait<Result>(until isReady: (Value) -> Bool, _ body: (inout Value) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while !isReady(value) { pthread_cond_wait(condition, mutex) }
        return body(&value)
    }

    func wait(until isReady: (Value) -> Bool) {
        wait(until: isReady) { _ in }
    }
}
