/// What the store deletes of a domain, from its first deletion on until it has deleted nothing for a while. Kept in the
/// database, so that a restart does not begin to count anew.
struct DeletionWindow: Hashable, Sendable, Codable {
    enum Word: String, Sendable, Codable {
        /// Too much is gone: a person is asked.
        case held
        /// A person said that it may go.
        case approved
    }

    /// How many items the domain had when the window was opened.
    var items: Int
    /// Items of this number or a higher one came later.
    var firstLater: UInt64
    /// In seconds since 1970, as all times here.
    var openedAt: Double
    /// When the oldest deletion that is noted and not applied was first seen.
    var notedSince: Double?
    /// When the newest one was.
    var changedAt: Double
    /// The sequence of the newest one. A person's word counts up to it.
    var newest: Int64 = 0
    var word: Word?

    /// In the place of one that cannot be read: a person is asked, if there is anything to ask.
    static func unreadable(now: Double) -> DeletionWindow {
        DeletionWindow(items: 0, firstLater: .max, openedAt: now, changedAt: now, word: .held)
    }

    /// The window in another run, in which the clock may tell another time: what was waited for is waited for anew.
    func resumed(at now: Double) -> DeletionWindow {
        var window = self
        (window.openedAt, window.changedAt) = (now, now)
        window.notedSince = notedSince.map { _ in now }
        return window
    }

    /// Takes in what is noted now.
    mutating func observe(_ counts: DeletionCounts, now: Double) {
        guard word != .approved else { return }
        guard counts.noted > 0 else {
            notedSince = nil
            return
        }
        guard notedSince == nil || counts.newest != newest else { return }
        notedSince = notedSince ?? now
        (changedAt, newest) = (now, counts.newest)
    }
}

/// How many items the store's deletions take. A file in whose place the store has another counts nowhere.
struct DeletionCounts: Hashable, Sendable {
    /// Items that the deletions which are noted would take from the tree.
    var noted = 0
    /// Those of ``noted`` that the domain had when the window was opened.
    var notedFormer = 0
    /// Items that the domain had when the window was opened and that were taken since.
    var applied = 0
    /// Items that the domain has now.
    var items = 0
    /// The sequences of the oldest and the newest deletion that is noted.
    var oldest: Int64 = 0
    var newest: Int64 = 0
    /// Items that are set aside, whether they count or not.
    var aside = 0
}

/// What becomes of the deletions that are noted.
enum DeletionVerdict: Hashable, Sendable {
    /// There are none; the window is looked at again at that time.
    case rest(until: Double)
    /// More may be to come: nothing is deleted before that time.
    case wait(until: Double)
    case apply
    /// A person is asked.
    case hold
    /// It is over: what was set aside may go.
    case close
}

/// Decides whether the store may go on deleting: never more than half of a domain, and more than a hundred items,
/// without a person's word.
enum MassDeletionGuard {
    /// So many items may always go; a domain that has no more needs no guard.
    static let mostDeletions = 100
    /// How long nothing more is to be deleted before what is noted is applied.
    static let quiet = 0.5
    /// How long that is waited for at most.
    static let longestWait = 5.0
    /// How long after the last deletion a window ends.
    static let pause = 60.0
    /// How long it lasts at most.
    static let longestWindow = 3600.0

    /// - Parameter most: So many may always go.
    static func verdict(
        _ window: DeletionWindow, _ counts: DeletionCounts, now: Double, most: Int = mostDeletions
    ) -> DeletionVerdict {
        func isTooMuch(_ deletions: Int, of items: Int) -> Bool { deletions > most && deletions > items / 2 }

        switch window.word {
        case .approved: return counts.noted > 0 && counts.oldest <= window.newest ? .apply : .close
        case .held: return counts.noted > 0 || counts.aside > 0 ? .hold : .close
        case nil: break
        }
        if isTooMuch(counts.notedFormer + counts.applied, of: window.items) { return .hold }
        if isTooMuch(counts.noted, of: counts.items) { return .hold }
        guard let since = window.notedSince, counts.noted > 0 else {
            let end = min(window.changedAt + pause, window.openedAt + longestWindow)
            return isWithin(window.changedAt, now, end) ? .rest(until: end) : .close
        }
        let end = min(window.changedAt + quiet, since + longestWait)
        return isWithin(since, now, end) ? .wait(until: end) : .apply
    }

    /// Whether a time that began has not ended. A clock that was set back ends it.
    private static func isWithin(_ begin: Double, _ now: Double, _ end: Double) -> Bool { begin <= now && now < end }
}
