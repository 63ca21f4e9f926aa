internal import Glibc
internal import Threads

/// The progress of a user's request. May be used from any thread.
package final class RequestProgress: Sendable {
    /// Counts so far.
    package struct Counts: Sendable, Hashable {
        package var items = 0
        /// The total number of items, as far as they were found.
        package var itemsTotal = 0
        package var bytes: Int64 = 0
        package var bytesTotal: Int64 = 0
        /// Whether more may be found.
        package var isCounting = true
    }
    private struct State {
        var counts = Counts()
        /// The number of transferred bytes of each unfinished item, and its size.
        var underway: [Int: (bytes: @Sendable () -> Int64, most: Int64)] = [:]
        var begun = 0
        var reported = Counts()
        var meter = RateMeter()
    }
    private let state = Locked(State())
    private let now: @Sendable () -> Double

    /// - Parameter now: Seconds of a clock that runs evenly; for tests.
    package init(now: @escaping @Sendable () -> Double = RequestProgress.clock) { self.now = now }

    /// The current counts of complete items.
    package var counts: Counts { state.withLock { $0.counts } }

    /// The current progress, with the mean speeds of the last seconds in which this was called; nil while nothing was
    /// found.
    package func report() -> TransferReport? {
        let (counted, underway) = state.withLock { ($0.counts, $0.underway.values) }
        var counts = counted
        // Called outside the lock, because it takes other locks.
        for item in underway { counts.bytes = counts.bytes.saturatingAdd(min(max(0, item.bytes()), item.most)) }
        return state.withLock { state in
            let last = state.reported
            if counts.items > last.items || counts.bytes > last.bytes || last == Counts() {
                let bytes = max(0, counts.bytes - last.bytes)
                state.meter.add(items: max(0, counts.items - last.items), bytes: bytes, now: now())
            }
            state.reported = counts
            return counts.itemsTotal > 0 ? TransferReport(counts, state.meter.rate(now: now())) : nil
        }
    }

    /// Adds work that was found to the total.
    func find(items: Int, bytes: Int64 = 0) {
        state.withLock { state in
            state.counts.itemsTotal += items
            state.counts.bytesTotal = state.counts.bytesTotal.saturatingAdd(bytes)
        }
    }

    /// Sets the total found so far.
    func setFound(items: Int, bytes: Int64) {
        state.withLock { ($0.counts.itemsTotal, $0.counts.bytesTotal) = (items, bytes) }
    }

    /// Notes that all work was found: the total is final.
    func endCounting() { state.withLock { $0.counts.isCounting = false } }

    /// Starts counting an item.
    /// - Parameters:
    ///   - most: Its size in bytes.
    ///   - bytes: Returns the bytes transferred.
    /// - Returns: The key for ``finishItem(_:bytes:)``.
    func begin(bytes most: Int64, _ bytes: @escaping @Sendable () -> Int64) -> Int {
        state.withLock { state in
            state.begun += 1
            state.underway[state.begun] = (bytes, most)
            return state.begun
        }
    }

    /// Counts an item as complete, with all its bytes.
    /// - Parameter begun: What ``begin(bytes:_:)`` returned for it, if it was called.
    func finishItem(_ begun: Int? = nil, bytes: Int64 = 0) {
        state.withLock { state in
            if let begun { state.underway[begun] = nil }
            state.counts.items += 1
            state.counts.bytes = state.counts.bytes.saturatingAdd(bytes)
        }
    }

    /// Removes this much from the total: it will not be done.
    func setLeft(items: Int, bytes: Int64) {
        state.withLock { state in
            state.counts.items = max(0, state.counts.itemsTotal - items)
            state.counts.bytes = max(0, state.counts.bytesTotal - bytes)
        }
    }

    /// Seconds since boot.
    package static let clock: @Sendable () -> Double = {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

extension TransferReport {
    init(_ counts: RequestProgress.Counts, _ rate: RateMeter.Rate) {
        self.init(
            itemsDone: counts.items, itemsTotal: counts.itemsTotal, bytesDone: counts.bytes,
            bytesTotal: counts.bytesTotal, itemsPerSecond: rate.items, bytesPerSecond: rate.bytes,
            seconds: rate.seconds, isCounting: counts.isCounting)
    }
}
