import PathStore

/// What was heard of other replicas' changes, and what is new in a text. Pure: the times come from outside.
struct HeardHints {
    /// The run of this process, whose changes are no news.
    let own: String
    /// The number of the last change of each run. Only of those in the last text, so that it can't grow without a limit.
    private var last: [String: UInt64] = [:]
    /// When everything was looked at, in seconds, and whether that has to be done again.
    private var (lookedEverywhere, owesEverywhere) = (-Double.infinity, false)

    /// Seconds between two looks at everything: whoever may write in the bucket could ask for more.
    static let restEverywhere = 300.0

    init(own: String) { self.own = own }

    /// Notes a text.
    /// - Returns: The folders in which something may be new, each once.
    mutating func hear(_ text: HintText) -> [StoragePath] {
        var (now, fresh, seen): ([String: UInt64], [StoragePath], Set<StoragePath>) = ([:], [], [])
        for change in text.changes where change.run != own {
            let before = now[change.run] ?? last[change.run]
            now[change.run] = max(before ?? 0, change.number)
            if let before {
                guard change.number > before else { continue }
                // Changes in between were dropped, or could not be told.
                if change.number - before > 1 { owesEverywhere = true }
            }
            if seen.insert(change.folder).inserted { fresh.append(change.folder) }
        }
        last = now
        return fresh
    }

    /// Whether to look at everything now.
    /// - Parameter now: Seconds on a clock that never goes back.
    mutating func takesEverywhere(now: Double) -> Bool {
        guard owesEverywhere, now - lookedEverywhere >= Self.restEverywhere else { return false }
        (owesEverywhere, lookedEverywhere) = (false, now)
        return true
    }
}
