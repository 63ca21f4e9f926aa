internal import GRDB

/// The changes of the store that were noted at one moment, and which of them are still not applied.
///
/// By identifiers, because a change whose item the store was asked about is noted again, with the answer.
struct NotedChanges {
    private var identifiers: Set<String>
    /// They are all applied, or noted again, when no sequence up to this one is left; nil from then on.
    private var last: Int64?
    /// How many are left; an upper bound until they are counted.
    private(set) var count: Int

    init(in rows: Rows) throws {
        last = try Int64.fetchOne(rows, sql: "SELECT max(sequence) FROM incoming") ?? 0
        identifiers = Set(try String.fetchAll(rows, sql: "SELECT identifier FROM incoming"))
        count = identifiers.count
    }

    var isEmpty: Bool { identifiers.isEmpty }

    /// Removes those that were applied.
    /// - Parameter isCounting: Whether to update ``count``, which takes longer than finding the first.
    mutating func update(isCounting: Bool, in rows: Rows) throws {
        guard let last else { return try removeApplied(in: rows) }
        let first = try Int64.fetchOne(rows, sql: "SELECT min(sequence) FROM incoming")
        if let first, first <= last {
            guard isCounting else { return }
            let sql = "SELECT count(*) FROM incoming WHERE sequence <= ?"
            count = try Int.fetchOne(rows, sql: sql, arguments: [last]) ?? 0
            return
        }
        self.last = nil
        identifiers.formIntersection(try String.fetchAll(rows, sql: "SELECT identifier FROM incoming"))
        count = identifiers.count
    }

    /// Stops at the first that is still noted.
    private mutating func removeApplied(in rows: Rows) throws {
        while let next = identifiers.first, try !Incoming.contains(ItemIdentifier(next), in: rows) {
            identifiers.remove(next)
        }
        count = identifiers.count
    }
}
