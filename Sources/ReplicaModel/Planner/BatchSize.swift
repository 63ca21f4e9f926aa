/// How many calls a task starts together at first, and while programs make changes: they are recorded in one transaction.
let smallestBatch = 16

/// How many calls a task starts together after others: as many as take a few milliseconds.
///
/// Every transaction writes whole pages, and writers wait for one another, so larger batches are cheaper. With slow calls,
/// as over a network, a large batch would let one task hold work that other tasks could do.
/// - Parameters:
///   - busy: How long the last calls took together, in seconds; negative if the clock was set back.
///   - calls: How many they were; at least 1.
///   - sinceEdit: The number of seconds since the last edit.
func batchSize(after busy: Double, calls: Int, sinceEdit: Double) -> Int {
    guard !isStream(sinceEdit: sinceEdit), busy > 0 else { return smallestBatch }
    let calls = shortBatch * Double(calls) / busy
    return Int(min(Double(largestBatch), max(Double(smallestBatch), calls)))
}

/// In seconds.
private let shortBatch = 0.05
private let largestBatch = 64
