/// Runs an operation for a limited time; it is cancelled then, and has to end.
/// - Returns: Its result, or the other one after that time.
package func inTime<Value: Sendable>(
    _ timeLimit: Duration, otherwise late: Value, _ operation: @escaping @Sendable () async -> Value
) async -> Value {
    await withTaskGroup(of: Value.self) { tasks in
        tasks.addTask { await operation() }
        tasks.addTask {
            // A cancelled task is not needed any more.
            try? await Task.sleep(for: timeLimit)
            return late
        }
        let first = await tasks.next() ?? late
        tasks.cancelAll()
        return first
    }
}
