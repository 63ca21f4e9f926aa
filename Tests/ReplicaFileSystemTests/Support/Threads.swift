import Threads

/// Calls `body` on a thread of its own: what blocks on a mount must not hold one of Swift's few threads.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        startThread { continuation.resume(with: Swift.Result { try body() }) }
    }
}

/// Starts a thread that nobody joins.
func startThread(_ body: @escaping @Sendable () -> Void) {
    precondition(Thread.run(body), "no thread to be had")
}
