/// The pause of an uploading task between two calls, in seconds.
///
/// Zero unless something was edited a moment ago. Then on average a third of one task is active, and a single task uses
/// a quarter of its time. Calls that are slow by themselves, as over a network, are hardly delayed.
/// - Parameters:
///   - busy: The duration of its last calls in seconds; negative if the clock was set back.
///   - workers: The number of such tasks; at least 1.
///   - sinceEdit: The number of seconds since the last edit.
func uploadPause(after busy: Double, workers: Int, sinceEdit: Double) -> Double {
    guard isStream(sinceEdit: sinceEdit), busy > 0 else { return 0 }
    return min(busy * 3 * Double(workers), 0.2)
}

/// Whether programs are making one change after another.
/// - Parameter sinceEdit: The number of seconds since the last edit; negative if the clock was set back.
func isStream(sinceEdit: Double) -> Bool { (0..<0.02).contains(sinceEdit) }
