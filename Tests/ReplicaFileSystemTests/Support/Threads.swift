import Glibc

/// Calls `body` on a pthread of its own: what blocks on a mount must not hold one of Swift's few threads.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        startThread { continuation.resume(with: Swift.Result { try body() }) }
    }
}

/// Starts a detached pthread.
func startThread(_ body: @escaping @Sendable () -> Void) {
    var thread = pthread_t()
    let box = Unmanaged.passRetained(ThreadBody(body))
    let error = pthread_create(&thread, nil, runThread, box.toOpaque())
    precondition(error == 0, "no thread to be had")
    pthread_detach(thread)
}

private final class ThreadBody: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }
}

private let runThread: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
    Unmanaged<ThreadBody>.fromOpaque(argument!).takeRetainedValue().body()
    return nil
}
