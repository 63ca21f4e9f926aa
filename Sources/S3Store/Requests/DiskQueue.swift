import Dispatch

/// Threads for what waits for the local disk: never Swift's own, of which a small machine has two.
struct DiskQueue: Sendable {
    private let queue = DispatchQueue(label: "replica.s3", attributes: .concurrent)

    func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: body()) }
        }
    }
}
