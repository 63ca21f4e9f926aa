/// When a pending item may be sent at the earliest, in seconds since 1970: edits are debounced, and failed items wait
/// for their retry (MODEL.md#decisions).
/// - Parameters:
///   - changedAt: When it was last edited, in seconds since 1970; 0 if not since the start.
///   - failure: Why it was not sent.
///   - settle: For how long an edit is debounced, in seconds.
/// - Returns: Infinity if it waits for the user.
func earliestUpload(changedAt: Double, failure: Failure?, settle: Double) -> Double {
    if let failure { return failure.retryAt ?? .infinity }
    return changedAt == 0 ? 0 : changedAt + settle
}

/// Seconds after its last edit in which a file that stays open for writing is not sent.
let openFileDebounceSeconds = 30.0
