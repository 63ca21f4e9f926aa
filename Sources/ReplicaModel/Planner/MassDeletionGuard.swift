/// The store's deletions from the first one until there have been none for a while. Kept in the database, so that a
/// restart does not reset the count.
struct DeletionWindow: Hashable, Sendable, Codable {
    enum Decision: String, Sendable, Codable {
        /// Too many items are deleted: the user is asked.
        case held
        /// The user approved the deletions.
        case approved
    }

    /// The number of items in the domain when the window was opened.
    var items: Int
    /// Items with this number or a higher one were created later.
    var firstLater: UInt64
    /// Seconds since 1970, like all times here.
    var openedAt: Double
    /// When the oldest deletion that is noted and not yet applied was first seen.
    var notedSince: Double?
    /// When the newest one was first seen.
    var changedAt: Double
    /// The sequence number of the newest one. The user's approval covers everything up to it.
    var newest: Int64 = 0
    var decision: Decision?

    private enum CodingKeys: String, CodingKey {
        case items, firstLater, openedAt, notedSince, changedAt, newest
        // As earlier builds recorded it.
        case decision = "word"
    }

    /// Replaces a window that can't be read: the user is asked if there is anything to ask about.
    static func unreadable(now: Double) -> DeletionWindow {
        DeletionWindow(items: 0, firstLater: .max, openedAt: now, changedAt: now, decision: .held)
    }

    /// The window in another run, whose clock may differ: all waits start again.
    func resumed(at now: Double) -> DeletionWindow {
        var window = self
        (window.openedAt, window.changedAt) = (now, now)
        window.notedSince = notedSince.map { _ in now }
        return window
    }

    /// Updates the window with the current counts.
    mutating func observe(_ counts: DeletionCounts, now: Double) {
        guard decision != .approved else { return }
        guard counts.noted > 0 else {
            notedSince = nil
            return
        }
        guard notedSince == nil || counts.newest != newest else { return }
        notedSince = notedSince ?? now
        (changedAt, newest) = (now, counts.newest)
    }
}

/// How many items the store's deletions affect. A file that the store replaced by another one is not counted.
struct DeletionCounts: Hashable, Sendable {
    /// Items that the noted deletions would remove from the tree.
    var noted = 0
    /// The part of ``noted`` that was in the domain when the window was opened.
    var notedFormer = 0
    /// Items that were in the domain when the window was opened and have been removed since.
    var applied = 0
    /// Items in the domain now.
    var items = 0
    /// The sequence numbers of the oldest and the newest noted deletion.
    var oldest: Int64 = 0
    var newest: Int64 = 0
    /// Items that are set aside, whether they are counted or not.
    var aside = 0
}

/// What happens with the noted deletions.
enum DeletionVerdict: Hashable, Sendable {
    /// There are none; the window is checked again at that time.
    case rest(until: Double)
    /// More may follow: nothing is deleted before that time.
    case wait(until: Double)
    case apply
    /// The user is asked.
    case hold
    /// The window has ended: what was set aside can be removed.
    case close
}

/// Decides whether the store's deletions may continue. Without approval of the user, a deletion of more than a hundred
/// items never removes more than half of the domain.
enum MassDeletionGuard {
    /// This many items may always be deleted; a domain with fewer items needs no guard.
    static let mostDeletions = 100
    /// The time without a new deletion after which noted deletions are applied.
    static let quietSeconds = 0.5
    /// The maximum time before they are applied.
    static let longestWaitSeconds = 5.0
    /// The time after the last deletion until the window ends.
    static let pauseSeconds = 60.0
    /// The maximum duration of a window.
    static let longestWindowSeconds = 3600.0

    /// - Parameter most: The number of items that may always be deleted.
    static func verdict(
        _ window: DeletionWindow, _ counts: DeletionCounts, now: Double, most: Int = mostDeletions
    ) -> DeletionVerdict {
        func isTooMuch(_ deletions: Int, of items: Int) -> Bool { deletions > most && deletions > items / 2 }

        switch window.decision {
        case .approved: return counts.noted > 0 && counts.oldest <= window.newest ? .apply : .close
        case .held: return counts.noted > 0 || counts.aside > 0 ? .hold : .close
        case nil: break
        }
        if isTooMuch(counts.notedFormer + counts.applied, of: window.items) { return .hold }
        if isTooMuch(counts.noted, of: counts.items) { return .hold }
        guard let since = window.notedSince, counts.noted > 0 else {
            let end = min(window.changedAt + pauseSeconds, window.openedAt + longestWindowSeconds)
            return isWithin(window.changedAt, now, end) ? .rest(until: end) : .close
        }
        let end = min(window.changedAt + quietSeconds, since + longestWaitSeconds)
        return isWithin(since, now, end) ? .wait(until: end) : .apply
    }

    /// Whether the current time is within a period. A clock that was set back ends it.
    private static func isWithin(_ begin: Double, _ now: Double, _ end: Double) -> Bool { begin <= now && now < end }
}
