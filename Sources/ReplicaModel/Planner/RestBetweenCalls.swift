/// For how long one of the tasks that make calls rests before it goes on, in seconds.
///
/// Nothing, unless something was edited a moment ago. Then on average a third of a task is at work, and a single one a
/// quarter of its time; calls that take long by themselves, as over a network, are hardly delayed.
/// - Parameters:
///   - busy: How long its last calls took, in seconds. Below 0 when the clock was set back.
///   - workers: How many such tasks there are; at least 1.
///   - sinceEdit: The time since the last edit, in seconds.
func restBetweenCalls(after busy: Double, workers: Int, sinceEdit: Double) -> Double {
    guard isStream(sinceEdit: sinceEdit), busy > 0 else { return 0 }
    return min(busy * 3 * Double(workers), 0.2)
}

/// Whether programs change one thing after the other.
/// - Parameter sinceEdit: The time since the last edit, in seconds. Below 0 when the clock was set back.
func isStream(sinceEdit: Double) -> Bool { (0..<0.02).contains(sinceEdit) }
