internal import GRDB
internal import Glibc
internal import Logging
internal import SystemPackage

extension SyncEngine {
    /// Evicts the least recently used files until the cache is within its limits. Skips files that are dirty, open or
    /// pinned, or have several names.
    func trimCache() async {
        guard options.cacheLimit != nil || options.minimumFree != nil, !replica.isScanning else { return }
        // What is freed while the store is away can't be read.
        guard isStoreAnswering else { return }
        do {
            var excess = try excess()
            if excess > 0 { await makeDurableIfPossible() }
            var last = (usedAt: -1.0, number: Int64(0))
            while excess > 0 {
                let candidates = try replica.evictionCandidates(after: last)
                guard let end = candidates.last else { return }
                last = (end.usedAt, end.number)
                for candidate in candidates where excess > 0 {
                    do throws(EvictionRefusal) {
                        excess -= try evict(ItemNumber(UInt64(bitPattern: candidate.number))) ?? 0
                    } catch {
                        // It is in use: try the next one.
                    }
                }
            }
        } catch {
            log.error("the cache can't be trimmed", metadata: ["error": "\(error)"])
        }
    }

    /// More than the size of any disk, and small enough not to overflow in sums.
    private static let mostFree: Int64 = 1 << 60

    /// The number of bytes to free, with some slack so that not every new file causes an eviction.
    private func excess() throws -> Int64 {
        if replica.hasChanges { try replica.record() }
        var excess: Int64 = 0
        if let limit = options.cacheLimit {
            let here = try replica.database.read { try Counts.read(from: $0) }.here
            if here > limit { excess = here - limit + limit / 20 }
        }
        if let wanted = options.minimumFree.map({ min($0, Self.mostFree) }) {
            let free = try replica.folders.freeBytes()
            if free < wanted { excess = max(excess, wanted - free + wanted / 20) }
        }
        return excess
    }
}

extension StateFolders {
    /// The number of bytes that this user may still write.
    func freeBytes() throws(Errno) -> Int64 {
        var status = Glibc.statvfs()
        try Errno.check(root.withPlatformString { statvfs($0, &status) })
        // Some filesystems report unlimited space.
        let (bytes, isTooMuch) = UInt(status.f_bavail).multipliedReportingOverflow(by: UInt(status.f_frsize))
        return isTooMuch ? .max : Int64(clamping: bytes)
    }
}

/// A file that can be evicted.
struct EvictionCandidate {
    var number: Int64
    var usedAt: Double
}

extension Replica {
    /// Files whose content the store has, least recently used first. A time of use in the future means that the clock
    /// was set back since, so the order is unknown: such files count as the oldest.
    func evictionCandidates(
        after last: (usedAt: Double, number: Int64)
    ) throws -> [EvictionCandidate] {
        let notEvicted: NodeFlags = [.deleted, .createSent, .excluded, .writing, .special, .refused, .reimport]
        return try database.read { rows in
            let found = try Row.fetchAll(
                rows,
                sql: """
                    SELECT number, iif(usedAt > ?, 0, usedAt) AS used FROM item
                    WHERE kind = \(kind: .file) AND here > 0 AND dirty = 0 AND flags & \(flags: notEvicted) = 0
                        AND identifier IS NOT NULL
                        AND (used, number) > (?, ?)
                    ORDER BY used, number LIMIT 256
                    """, arguments: [now(), last.usedAt, last.number])
            return found.map { EvictionCandidate(number: $0["number"], usedAt: $0["used"]) }
        }
    }
}
