import Testing

@testable import ReplicaModel

/// Whether the store may go on deleting.
@Suite struct MassDeletionGuardTests {
    private typealias Guard = MassDeletionGuard

    private static func window(
        items: Int = 1_000, notedSince: Double? = nil, changedAt: Double = 100, newest: Int64 = 0,
        decision: DeletionWindow.Decision? = nil
    ) -> DeletionWindow {
        DeletionWindow(
            items: items, firstLater: 5_000, openedAt: 100, notedSince: notedSince, changedAt: changedAt,
            newest: newest, decision: decision)
    }

    private static func counts(
        noted: Int, former: Int? = nil, applied: Int = 0, items: Int = 1_000, aside: Int = 0
    ) -> DeletionCounts {
        DeletionCounts(
            noted: noted, notedFormer: former ?? noted, applied: applied, items: items, oldest: 1, newest: 1,
            aside: aside)
    }

    @Test(arguments: [
        // Too many: of the former items, whether applied or not; of the present items.
        (window(), counts(noted: 501), 100.0, DeletionVerdict.hold),
        (window(), counts(noted: 1, applied: 500, items: 500), 100, .hold),
        (window(), counts(noted: 0, applied: 501, items: 499), 100, .hold),
        (window(), counts(noted: 2_000, former: 0, items: 3_000), 100, .hold),
        (window(items: 120), counts(noted: 101, items: 120), 100, .hold),
        // Not too many: a hundred, half, or only items created later.
        (window(items: 120, notedSince: 100), counts(noted: 100, items: 120), 100, .wait(until: 100.5)),
        (window(notedSince: 100), counts(noted: 500), 100, .wait(until: 100.5)),
        (window(notedSince: 100), counts(noted: 600, former: 0, items: 1_600), 100.5, .apply),
        // A quiet moment is awaited, but not for ever.
        (window(notedSince: 100, changedAt: 104), counts(noted: 10), 104.4, .wait(until: 104.5)),
        (window(notedSince: 100, changedAt: 104.9), counts(noted: 10), 104.9, .wait(until: 105)),
        (window(notedSince: 100, changedAt: 105), counts(noted: 10), 105, .apply),
        // A clock that was set back delays nothing.
        (window(notedSince: 100), counts(noted: 10), 50, .apply),
        (window(), counts(noted: 0), 50, .close),
        // It ends when nothing was deleted for a minute, or after an hour.
        (window(), counts(noted: 0, applied: 10), 159, .rest(until: 160)),
        (window(), counts(noted: 0, applied: 10), 160, .close),
        (window(changedAt: 3_690), counts(noted: 0, applied: 10), 3_695, .rest(until: 3_700)),
        (window(changedAt: 3_690), counts(noted: 0, applied: 10), 3_700, .close),
        // A hold stays, even if little is left of it, until the user decides or the items exist again.
        (window(decision: .held), counts(noted: 1), 9_999, .hold),
        (window(decision: .held), counts(noted: 0), 100, .close),
        (window(decision: .held), counts(noted: 0, aside: 1), 100, .hold),
        (window(newest: 1, decision: .approved), counts(noted: 900), 100, .apply),
        (window(newest: 0, decision: .approved), counts(noted: 900), 100, .close),
        (window(decision: .approved), counts(noted: 0), 100, .close),
    ])
    func theVerdictFollowsTheCounts(
        window: DeletionWindow, counts: DeletionCounts, now: Double, verdict: DeletionVerdict
    ) {
        #expect(MassDeletionGuard.verdict(window, counts, now: now) == verdict)
    }

    @Test func aNotedDeletionIsReportedOnce() {
        var window = Self.window()
        window.observe(DeletionCounts(noted: 3, newest: 7), now: 101)
        window.observe(DeletionCounts(noted: 3, newest: 7), now: 102)
        #expect(window.notedSince == 101 && window.changedAt == 101)
        window.observe(DeletionCounts(noted: 4, newest: 8), now: 103)
        #expect(window.notedSince == 101 && window.changedAt == 103)
        window.observe(DeletionCounts(noted: 0, newest: 0), now: 104)
        #expect(window.notedSince == nil && window.changedAt == 103)
    }

    /// The wall clock may have been set by any amount since.
    @Test(arguments: [0.0, 50, 99, 100, 105, 5_000, 3e9])
    func aNewRunWaitsAgain(_ now: Double) {
        let window = Self.window(notedSince: 100, changedAt: 104, newest: 7).resumed(at: now)
        #expect(window.items == 1_000 && window.firstLater == 5_000 && window.newest == 7)
        let noted = Self.counts(noted: 10)
        #expect(Guard.verdict(window, noted, now: now) == .wait(until: now + 0.5))
        #expect(Guard.verdict(window, noted, now: now + 0.5) == .apply)
        let none = Self.counts(noted: 0, applied: 10)
        let quiet = Self.window().resumed(at: now)
        #expect(quiet.notedSince == nil)
        #expect(Guard.verdict(quiet, none, now: now + 59) == .rest(until: now + 60))
        #expect(Guard.verdict(quiet, none, now: now + 60) == .close)
        #expect(Guard.verdict(Self.window(decision: .held).resumed(at: now), noted, now: now) == .hold)
    }
}
