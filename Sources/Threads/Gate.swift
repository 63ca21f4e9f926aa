package import Glibc

/// A value behind a mutex; threads can wait until it satisfies a condition.
///
/// It has no ``LockRank``: take no lock and no other gate within `body`.
// Unchecked: the value is only accessed with the mutex held.
package final class Gate<Value>: @unchecked Sendable {
    @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
    @usableFromInline let condition: UnsafeMutablePointer<pthread_cond_t>
    @usableFromInline var value: Value

    /// Guards `value`.
    package init(_ value: Value) {
        self.value = value
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

    /// Changes the value, then lets all waiting threads check their conditions.
    @inlinable
    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        // Before the lock is released: a waiting thread may free all of this immediately afterwards.
        defer { pthread_cond_broadcast(condition) }
        return try body(&value)
    }

    /// Changes the value, then wakes one waiting thread, for values that only one of them can take. If all were woken,
    /// all but one would find nothing and contend for the lock.
    @inlinable
    package func withLockWakingOne<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        defer { pthread_cond_signal(condition) }
        return try body(&value)
    }

    /// Waits until `isReady` returns true, then works on the value under the same lock. Wakes no other thread.
    @inlinable
    @discardableResult
    package func wait<Result>(until isReady: (Value) -> Bool, _ body: (inout Value) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while !isReady(value) { pthread_cond_wait(condition, mutex) }
        return body(&value)
    }

    /// Waits until `isReady` returns true.
    @inlinable
    package func wait(until isReady: (Value) -> Bool) {
        wait(until: isReady) { _ in }
    }

    /// Waits until `isReady` returns true, but at most for this long, then works on the value under the same lock.
    /// Wakes no other thread.
    /// - Parameter body: Gets the value, and whether it is ready.
    @discardableResult
    package func wait<Result>(
        seconds: Double, until isReady: (Value) -> Bool, _ body: (inout Value, _ isReady: Bool) -> Result
    ) -> Result {
        var end = timespec()
        clock_gettime(CLOCK_MONOTONIC, &end)
        let nanoseconds = end.tv_nsec + Int(seconds.truncatingRemainder(dividingBy: 1) * 1e9)
        end.tv_sec += Int(seconds) + nanoseconds / 1_000_000_000
        end.tv_nsec = nanoseconds % 1_000_000_000
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while !isReady(value), pthread_cond_timedwait(condition, mutex, &end) != ETIMEDOUT {}
        return body(&value, isReady(value))
    }
}
