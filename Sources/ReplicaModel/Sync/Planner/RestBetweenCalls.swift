/// For how long one of the tasks that make calls rests before it goes on, in seconds.
///
/// Nothing, unless something was edited a moment ago. Then on average a third of a task is at work, and a single one a
/// quarter of its time; calls that take long by themselves, as over a network, are hardly delayed.
/// - Parameters:
///   - busy: How long its last calls took, in seconds. Below 0 when the clock was set back.
///   - workers: How many such tasks there are; at least 1.
///   - sinceEdit: The time since the last edit, in seconds.
func restBetweenCalls(after busy: Double, workers: Int, sinceEdit: Double) -> Double {
    let (stream, longest) = (0.02, 0.2)
    guard (0..<stream).contains(sinceEdit), busy > 0 else { return 0 }
    return min(busy * 3 * Double(workers), longest)
}
