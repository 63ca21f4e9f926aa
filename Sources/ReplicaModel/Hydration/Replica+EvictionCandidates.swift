internal import GRDB
internal import Glibc

extension Replica {
    /// Files whose content the store has, least recently used first. A time of use in the future means that the clock
    /// was set back since, so the order is unknown: such files count as the oldest. All at once: no index has this order, and
    /// each part would cost as much as all.
    func evictionCandidates() throws -> [ItemNumber] {
        let notEvicted: NodeFlags = [.deleted, .createSent, .excluded, .writing, .special, .refused, .reimport]
        return try database.read { rows in
            try Int64.fetchAll(
                rows,
                sql: """
                    SELECT number FROM item
                    WHERE kind = \(kind: .file) AND here > 0 AND dirty = 0 AND flags & \(flags: notEvicted) = 0
                        AND identifier IS NOT NULL
                        AND identifier NOT IN (SELECT identifier FROM incoming WHERE item IS NULL AND asked >= 0)
                    ORDER BY iif(usedAt > ?, 0, usedAt), number
                    """, arguments: [now()])
        }.map { ItemNumber(UInt64(bitPattern: $0)) }
    }
}
