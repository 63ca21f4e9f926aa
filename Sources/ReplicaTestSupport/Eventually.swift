/// Waits for a condition, at most half a minute: the one timeout for effects of other threads and processes.
/// - Returns: Whether it became true.
package func eventually(_ condition: () async throws -> Bool) async throws -> Bool {
    let end = ContinuousClock.now + .seconds(30)
    while true {
        if try await condition() { return true }
        guard ContinuousClock.now < end else { return false }
        try await Task.sleep(for: .milliseconds(10))
    }
}
