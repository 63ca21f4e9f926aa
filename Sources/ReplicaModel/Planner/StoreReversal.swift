/// Contents of the store went back to earlier dates, as when a server is restored from a backup: the bytes here that they
/// replace, and those of files that were created since the backup, may exist nowhere else.
struct StoreReversal: Hashable, Sendable {
    /// When it was last seen, in seconds of the run's clock.
    private(set) var seenAt: Double
    /// The latest date that a content went back to: the backup is from then, or later.
    private(set) var date: Timestamp

    /// How long deletions are expected after it. Folders that are not in use are compared every hour.
    static let seconds = 7200.0
    /// Storages round dates, and clocks of different machines are never quite equal.
    static let leastNanoseconds: Int64 = 2_000_000_000

    /// Whether the store's new content of a file is older than the one before.
    /// - Parameter there: Nil if the store keeps no dates: nothing is known then.
    static func isOne(from here: Timestamp, to there: Timestamp?) -> Bool {
        guard let there else { return false }
        return there.nanoseconds.saturatingAdd(leastNanoseconds) < here.nanoseconds
    }

    /// The current reversal, after a content went back to this date.
    static func noting(_ date: Timestamp, now: Double, after known: StoreReversal?) -> StoreReversal {
        guard let known, known.isRecent(at: now) else { return StoreReversal(seenAt: now, date: date) }
        return StoreReversal(seenAt: now, date: max(known.date, date))
    }

    /// Whether a file that the store no longer has may be missing there because it is newer than the backup.
    /// - Parameters:
    ///   - born: When the local file was created or downloaded; zero if that is unknown.
    ///   - modified: The date of its content.
    func explainsDeletion(born: Timestamp, modified: Timestamp, now: Double) -> Bool {
        isRecent(at: now) && date < max(born, modified)
    }

    /// Whether deletions are still expected after it.
    func isRecent(at now: Double) -> Bool { now - seenAt < Self.seconds }
}
