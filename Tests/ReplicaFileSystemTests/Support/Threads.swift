import Threads

/// Calls `body` on a separate thread: code that blocks on a mount must not occupy one of Swift's few threads.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        startThread { continuation.resume(with: Swift.Result { try body() }) }
    }
}

/// Starts a detached thread.
func startThread(_ body: @escaping @Sendable () -> Void) {
    precondition(Thread.run(body), "the thread can't be created")
}
