import Dispatch

/// Threads for work that blocks on the local disk. Swift's own threads must not block: a small machine has two.
package struct DiskQueue: Sendable {
    private let queue: DispatchQueue

    /// - Parameter label: The name in debuggers.
    package init(_ label: String) {
        queue = DispatchQueue(label: label, attributes: .concurrent)
    }

    /// Runs `body` on one of them.
    package func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let outcome = await withCheckedContinuation { continuation in
            queue.async {
                continuation.resume(returning: Result { () throws(Failure) in try body() })
            }
        }
        return try outcome.get()
    }
}
