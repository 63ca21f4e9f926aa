internal import Glibc

/// The one timeout for effects of other threads and processes: far above what they take, also on a busy machine. A test
/// that distinguishes a timeout of the product from an effect sets that timeout to an hour.
package let eventLimit = Duration.seconds(300)

/// Waits for a condition, at most for ``eventLimit``.
/// - Returns: Whether it became true.
package func eventually(_ condition: () async throws -> Bool) async throws -> Bool {
    let end = ContinuousClock.now + eventLimit
    while true {
        if try await condition() { return true }
        guard ContinuousClock.now < end else { return false }
        try await Task.sleep(for: .milliseconds(10))
    }
}

/// ``eventually(_:)`` for a thread that may block.
package func blockUntil(_ condition: () throws -> Bool) rethrows -> Bool {
    let end = ContinuousClock.now + eventLimit
    while true {
        if try condition() { return true }
        guard ContinuousClock.now < end else { return false }
        usleep(10_000)
    }
}

/// Makes a call again while it fails for a reason that may pass, at most for ``eventLimit``.
package func eventually<Value, Failure: Error>(
    despite mayPass: (Failure) -> Bool, _ body: () async throws(Failure) -> Value
) async throws -> Value {
    let end = ContinuousClock.now + eventLimit
    while true {
        do throws(Failure) { return try await body() } catch {
            guard mayPass(error), ContinuousClock.now < end else { throw error }
        }
        try await Task.sleep(for: .milliseconds(10))
    }
}
