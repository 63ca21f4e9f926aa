/// The one timeout for effects of other threads and processes: far above what they take, also on a busy machine. What a test
/// has to tell apart from it takes a minute or more.
package let eventLimit = Duration.seconds(50)

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

/// Whether no longer timeout than ``eventLimit`` has passed.
package func isPrompt(since begin: ContinuousClock.Instant) -> Bool { .now - begin < eventLimit }
