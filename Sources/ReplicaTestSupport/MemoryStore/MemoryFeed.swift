import ReplicaModel

/// The order in which items changed, and the anchors that identify positions in it.
struct MemoryFeed {
    /// Increased when all issued anchors expire.
    private var epoch = 1
    private var sequence = 0
    /// Invariant: ascending by sequence; an item's older entries are skipped, not removed.
    private var log: [(sequence: Int, identifier: ItemIdentifier)] = []
    private var newest: [ItemIdentifier: Int] = [:]
    /// Whether changes are not reported now.
    var isSilent = false

    /// Records that an item was created, changed or deleted.
    mutating func report(_ identifier: ItemIdentifier) {
        if isSilent { return }
        sequence += 1
        log.append((sequence, identifier))
        newest[identifier] = sequence
    }

    /// Makes all issued anchors unknown.
    mutating func expire() {
        epoch += 1
    }

    var anchor: SyncAnchor { anchor(at: sequence) }

    private func anchor(at sequence: Int) -> SyncAnchor { SyncAnchor("\(epoch).\(sequence)") }

    /// The items that changed after `anchor`, at most `limit` of them, each once.
    func changes(
        after anchor: SyncAnchor, limit: Int
    ) throws(RemoteStoreError) -> (identifiers: [ItemIdentifier], anchor: SyncAnchor, moreComing: Bool) {
        let parts = String(decoding: anchor.bytes, as: UTF8.self).split(separator: ".").map { Int($0) }
        guard parts.count == 2, parts[0] == epoch, let start = parts[1], start <= sequence else {
            throw .syncAnchorExpired
        }
        var found: [ItemIdentifier] = []
        var end = start
        for entry in log[firstIndex(after: start)...] where newest[entry.identifier] == entry.sequence {
            if found.count == limit { return (found, self.anchor(at: end), true) }
            found.append(entry.identifier)
            end = entry.sequence
        }
        return (found, self.anchor, false)
    }

    /// Sequences start at 1 and have no gaps, so the entry after `sequence` is at that index.
    private func firstIndex(after sequence: Int) -> Int { max(0, min(sequence, log.count)) }
}
