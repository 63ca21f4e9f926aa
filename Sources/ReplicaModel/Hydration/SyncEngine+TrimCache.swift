internal import Glibc
internal import Logging
internal import Threads

extension SyncEngine {
    /// Evicts the least recently used files until the cache is within its limits. Skips files that are dirty, open or
    /// pinned, or have several names.
    /// - Returns: When it may be called again, in seconds since 1970: where few of many files can be evicted, going through
    ///   them all takes only a part of the time.
    @discardableResult
    func trimCache() async -> Double {
        guard !limits.withLock({ $0.isNone }), !replica.isScanning else { return 0 }
        // What is freed while the store is away can't be read.
        guard isStoreAnswering else { return 0 }
        let begin = replica.now()
        do {
            var excess = try excess()
            guard excess > 0 else { return 0 }
            await makeDurableIfPossible()
            for number in try replica.evictionCandidates() where excess > 0 {
                if Task.isCancelled { break }
                do throws(EvictionRefusal) {
                    excess -= try evict(number) ?? 0
                } catch {
                    // It is in use: try the next one.
                }
            }
            guard excess > 0 else { return 0 }
        } catch {
            log.error("the cache can't be trimmed", metadata: ["error": "\(error)"])
        }
        let end = replica.now()
        return end + min((end - begin) * Self.pauseAfterTrimming, Self.longestPauseSeconds)
    }

    /// The pause after an attempt that freed too little, as a multiple of its duration.
    private static let pauseAfterTrimming = 10.0
    private static let longestPauseSeconds = 60.0

    /// More than the size of any disk, and small enough not to overflow in sums.
    private static let mostFree: Int64 = 1 << 60

    /// The number of bytes to free, with some slack so that not every new file causes an eviction.
    private func excess() throws -> Int64 {
        if replica.hasChanges { try replica.record() }
        let limits = limits.withLock { $0 }
        var excess: Int64 = 0
        if let limit = limits.most {
            let here = try replica.database.read { try ItemCounts.read(from: $0) }.here
            if here > limit { excess = here - limit + limit / 20 }
        }
        if let wanted = limits.leastFree.map({ min($0, Self.mostFree) }) {
            let free = try replica.folders.freeBytes()
            if free < wanted { excess = max(excess, wanted - free + wanted / 20) }
        }
        return excess
    }
}
