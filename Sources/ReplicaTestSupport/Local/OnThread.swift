internal import Threads

/// Runs blocking code on a separate thread: Swift's pool has only one thread per core, and servers and mounts in this
/// process need them.
package func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        precondition(
            Thread.run { continuation.resume(with: Result { try body() }) }, "the thread can't be created")
    }
}
