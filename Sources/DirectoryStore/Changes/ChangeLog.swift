import ReplicaModel

/// The order in which items changed, with anchors for positions in it. It lives as long as the process.
struct ChangeLog {
    /// The maximum number of entries; a feed that is polled from time to time is never this far behind.
    static let longest = 200_000

    private var epoch = hex(UInt64.random(in: 0 ... .max))
    private(set) var sequence = 0
    /// The sequence of the first entry of `entries`; anchors before it have expired.
    private var first = 1
    /// Invariant: the entry at an index has the sequence `first + index`.
    private var entries: [ItemKey] = []
    private var newest: [ItemKey: Int] = [:]

    mutating func add(_ key: ItemKey) {
        sequence += 1
        entries.append(key)
        newest[key] = sequence
        if entries.count > Self.longest { drop(Self.longest / 2) }
    }

    private mutating func drop(_ count: Int) {
        for index in 0..<count where newest[entries[index]] == first + index { newest[entries[index]] = nil }
        entries.removeFirst(count)
        first += count
    }

    /// Expires all anchors.
    mutating func expire() { self = ChangeLog() }

    var anchor: SyncAnchor { anchor(at: sequence) }

    private func anchor(at sequence: Int) -> SyncAnchor { SyncAnchor("\(epoch).\(sequence)") }

    /// The items that changed after `anchor`, each once; at most `limit` of them.
    func changes(after anchor: SyncAnchor, limit: Int) throws(RemoteStoreError) -> Changes {
        let parts = String(decoding: anchor.bytes, as: UTF8.self).split(separator: ".")
        guard parts.count == 2, parts[0] == epoch, let start = Int(parts[1]), start >= first - 1, start <= sequence
        else { throw .syncAnchorExpired }
        var found: [ItemKey] = []
        var end = start
        for index in (start - first + 1)..<entries.count where newest[entries[index]] == first + index {
            if found.count == limit {
                return Changes(keys: found, start: start, anchor: self.anchor(at: end), moreComing: true)
            }
            found.append(entries[index])
            end = first + index
        }
        return Changes(keys: found, start: start, anchor: self.anchor, moreComing: false)
    }

    struct Changes {
        var keys: [ItemKey]
        /// The sequence of the requested anchor.
        var start: Int
        var anchor: SyncAnchor
        var moreComing: Bool
    }
}
