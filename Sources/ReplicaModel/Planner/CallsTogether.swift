/// How many calls a task starts together at first, and while programs make changes: they are recorded in one transaction.
let fewestCallsTogether = 16

/// How many calls a task starts together after others: as many as take a few milliseconds.
///
/// Each transaction costs its pages, and all who record wait for one another. Where calls are slow, as over a network, many would
/// keep what one task has begun from the others.
/// - Parameters:
///   - busy: How long the last calls took together, in seconds; negative if the clock was set back.
///   - calls: How many they were; at least 1.
///   - sinceEdit: The number of seconds since the last edit.
func callsTogether(after busy: Double, calls: Int, sinceEdit: Double) -> Int {
    guard !isStream(sinceEdit: sinceEdit), busy > 0 else { return fewestCallsTogether }
    let calls = shortBatch * Double(calls) / busy
    return Int(min(Double(mostCallsTogether), max(Double(fewestCallsTogether), calls)))
}

/// In seconds.
private let shortBatch = 0.05
private let mostCallsTogether = 64
