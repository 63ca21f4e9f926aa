import Dispatch

/// Threads for what blocks on the local disk: never Swift's own, of which a small machine has two.
struct DiskQueue: Sendable {
    private let queue = DispatchQueue(label: "replica.sftp", attributes: .concurrent)

    func run<Value: Sendable, Failure: Error>(
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
