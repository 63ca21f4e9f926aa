package import Glibc

/// A value that one thread at a time may access.
///
/// Not `Synchronization.Mutex`: that one convoys under contention and confuses ThreadSanitizer (MODEL.md#platform).
/// Keep the sections short and never suspend or call out within one.
// The pthread mutex guards `value`, so sharing the object between threads is right.
package final class Locked<Value>: @unchecked Sendable {
    @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
    @usableFromInline let rank: LockRank
    @usableFromInline var value: Value

    /// Guards `value`.
    /// - Parameter rank: Determines which locks may be held while this one is taken; by default only those intended for
    ///   that.
    package init(_ value: Value, rank: LockRank = .leaf) {
        self.value = value
        self.rank = rank
        mutex = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs `body` with exclusive access to the value.
    @inlinable
    package func withLock<Result, Failure>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        #if DEBUG
            rank.enter()
            defer { rank.leave() }
        #endif
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}
