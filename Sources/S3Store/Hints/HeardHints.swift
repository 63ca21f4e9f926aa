import PathStore

/// What is known of the hints of other replicas, and what is new in them. Pure: the times come from outside.
struct HeardHints {
    private struct Replica {
        var tag: String
        /// The run and the number of its last change; nil if its hint was not read yet.
        var last: (run: String, number: UInt64)?
    }

    private var replicas: [String: Replica] = [:]
    /// Whether the first look was made: hints of before are older than what this replica has listed.
    private var hasLooked = false
    /// When everything was looked at, in seconds, and whether that has to be done again.
    private var (lookedEverywhere, owesEverywhere) = (-Double.infinity, false)

    /// The maximum number of replicas that are listened to.
    static let mostReplicas = 200
    /// Seconds between two looks at everything: whoever may write in the bucket could ask for more.
    static let restEverywhere = 60.0

    /// Notes which hints there are.
    /// - Parameter hints: The replicas' names, with the tags of their hints.
    /// - Returns: The replicas whose hints have to be read.
    mutating func look(at hints: [String: String]) -> [String] {
        defer { hasLooked = true }
        let before = replicas
        replicas = [:]
        var changed: [String] = []
        for (name, tag) in hints.sorted(by: { $0.key < $1.key }).prefix(Self.mostReplicas) {
            let former = before[name]
            replicas[name] = Replica(tag: tag, last: former?.last)
            if hasLooked, former?.tag != tag { changed.append(name) }
        }
        return changed
    }

    /// Notes a hint that was read.
    /// - Returns: The folders in which something may be new.
    mutating func hear(_ text: HintText, of name: String) -> [StoragePath] {
        guard let newest = text.changes.last, let oldest = text.changes.first else { return [] }
        let last = replicas[name]?.last.flatMap { $0.run == text.run ? $0.number : nil }
        replicas[name]?.last = (text.run, newest.number)
        // Changes in between are not in the text any more. Of a run that is new here, the first ones may have been made before this
        // replica looked.
        if let last, oldest.number > last, oldest.number - last > 1 { owesEverywhere = true }
        return text.changes.filter { change in last.map { change.number > $0 } ?? true }.map(\.folder)
    }

    /// The hint could not be read: it is read at the next look.
    mutating func miss(_ name: String) { replicas[name]?.tag = "" }

    /// Whether to look at everything now.
    /// - Parameter now: Seconds on a clock that never goes back.
    mutating func takesEverywhere(now: Double) -> Bool {
        guard owesEverywhere, now - lookedEverywhere >= Self.restEverywhere else { return false }
        (owesEverywhere, lookedEverywhere) = (false, now)
        return true
    }
}
