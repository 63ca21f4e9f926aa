import Threads

/// Blocks this thread until a task has ended. Must not be called from a task.
func waited<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) -> Value {
    let (result, isDone) = (Locked<Value?>(nil), Latch())
    Task {
        let value = await body()
        result.withLock { $0 = value }
        isDone.open()
    }
    isDone.wait()
    guard let value = result.withLock({ $0 }) else { preconditionFailure("the latch opened too early") }
    return value
}
