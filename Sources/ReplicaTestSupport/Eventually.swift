/// Waits for a condition, up to half a minute: the one limit for what another thread or process brings about.
/// - Returns: Whether it came true.
package func eventually(_ condition: () async throws -> Bool) async throws -> Bool {
    let end = ContinuousClock.now + .seconds(30)
    while true {
        if try await condition() { return true }
        guard ContinuousClock.now < end else { return false }
        try await Task.sleep(for: .milliseconds(10))
    }
}
