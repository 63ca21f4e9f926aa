internal import Foundation
internal import GRDB

/// A change in the store that is not applied to the tree yet; kept in the database until it is.
struct Incoming {
    var identifier: ItemIdentifier
    /// Nil if the item is gone from the store.
    var item: Item?
    /// ``AnswerLog/count`` when this was requested from the store: later answers may be newer. 0 once the database
    /// knows of a later answer.
    var asked: UInt64
    /// Whether this is not a change but a question: the store has to be asked for the item's present state. A question
    /// deletes nothing.
    var isQuestion = false
    /// Whether the item's content may differ although its version is the same.
    var rewrite = PossibleRewrite.no

    /// The value of ``asked`` in the database for a question.
    static let question: Int64 = -1

    /// Notes a batch and the anchor after it, in one transaction with `rows`.
    static func write(_ batch: [Incoming], anchor: SyncAnchor?, to rows: Rows) throws {
        let encoder = JSONEncoder()
        var sequence = try lastSequence(in: rows)
        let statement = try rows.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO incoming (identifier, sequence, item, asked, parent, name)
                VALUES (?, ?, ?, ?, ?, ?)
                """)
        for change in batch {
            if change.item == nil, !change.isQuestion, try noteRepeatedDeletion(change, in: rows) { continue }
            sequence += 1
            // What is known about its content stays valid until it is applied.
            let known = try change.item == nil ? nil : rewrite(of: change.identifier, in: rows)
            let noted = change.item.map { NotedItem(item: $0, rewrite: max(change.rewrite, known ?? .no)) }
            let text = try noted.map { String(decoding: try encoder.encode($0), as: UTF8.self) }
            try statement.execute(arguments: [
                change.identifier.rawValue, sequence, text,
                change.isQuestion ? question : Int64(bitPattern: change.asked),
                change.item?.parent.rawValue, (change.item?.filename).map { Data($0.bytes) },
            ])
        }
        try anchor?.record(in: rows)
    }

    /// A deletion that is reported again keeps its sequence: the user may have approved it.
    private static func noteRepeatedDeletion(_ change: Incoming, in rows: Rows) throws -> Bool {
        let statement = try rows.cachedStatement(
            sql: "UPDATE incoming SET asked = ? WHERE identifier = ? AND item IS NULL AND asked >= 0")
        try statement.execute(arguments: [Int64(bitPattern: change.asked), change.identifier.rawValue])
        return rows.changesCount > 0
    }

    /// Up to `limit` changes after `sequence`, oldest first.
    static func read(after sequence: Int64, limit: Int, from rows: Rows) throws -> [(Int64, Incoming)] {
        let decoder = JSONDecoder()
        let found = try Row.fetchAll(
            rows, sql: "SELECT * FROM incoming WHERE sequence > ? ORDER BY sequence LIMIT ?",
            arguments: [sequence, limit])
        return try found.map { row in
            let text: String? = row["item"]
            let noted = try text.map { try decoder.decode(NotedItem.self, from: Data($0.utf8)) }
            let asked: Int64 = row["asked"]
            let change = Incoming(
                identifier: ItemIdentifier(row["identifier"]), item: noted?.item,
                asked: UInt64(bitPattern: max(0, asked)), isQuestion: asked == question, rewrite: noted?.rewrite ?? .no)
            return (row["sequence"], change)
        }
    }

    private static func rewrite(of identifier: ItemIdentifier, in rows: Rows) throws -> PossibleRewrite? {
        let statement = try rows.cachedStatement(
            sql: "SELECT json_extract(item, '$.rewrite') FROM incoming WHERE identifier = ?")
        return try Int.fetchOne(statement, arguments: [identifier.rawValue]).flatMap { PossibleRewrite(rawValue: $0) }
    }

    /// The noted change of an item; not a question.
    static func of(_ identifier: ItemIdentifier, in rows: Rows) throws -> Incoming? {
        let found = try Row.fetchOne(
            rows, sql: "SELECT item FROM incoming WHERE identifier = ? AND asked >= 0",
            arguments: [identifier.rawValue])
        guard let found else { return nil }
        let text: String? = found["item"]
        let item = try text.map { try JSONDecoder().decode(Item.self, from: Data($0.utf8)) }
        return Incoming(identifier: identifier, item: item, asked: 0)
    }

    /// Marks the changes that an earlier run noted as older than any answer in this run. After an unclean stop answers
    /// were lost too, so the store is listed again; the noted changes tell the scan which items the store's changes
    /// removed. The anchor still identifies the store.
    static func markOfEarlierRun(isClean: Bool, in rows: Rows) throws {
        if !isClean {
            try Meta.listsAnew.write("1", to: rows)
            try rows.execute(sql: "DELETE FROM incoming WHERE asked = 0")
        }
        try rows.execute(sql: "UPDATE incoming SET asked = 1 WHERE asked > 0")
    }

    /// Notes that a call about an item was answered: states requested earlier may be outdated.
    static func noteAnswer(about identifier: ItemIdentifier, _ count: UInt64, in rows: Rows) throws {
        let statement = try rows.cachedStatement(
            sql: "UPDATE incoming SET asked = 0 WHERE identifier = ? AND asked BETWEEN 0 AND ? - 1")
        try statement.execute(arguments: [identifier.rawValue, Int64(clamping: count)])
    }

    /// Removes a change that was applied, unless a newer one replaced it.
    static func remove(_ identifier: ItemIdentifier, sequence: Int64, from rows: Rows) throws {
        let statement = try rows.cachedStatement(sql: "DELETE FROM incoming WHERE identifier = ? AND sequence = ?")
        try statement.execute(arguments: [identifier.rawValue, sequence])
    }

    /// Removes the noted deletion of an item.
    static func removeDeletion(of identifier: ItemIdentifier, from rows: Rows) throws {
        let statement = try rows.cachedStatement(sql: "DELETE FROM incoming WHERE identifier = ? AND item IS NULL")
        try statement.execute(arguments: [identifier.rawValue])
    }

    static func areThere(in rows: Rows) throws -> Bool {
        let statement = try rows.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM incoming)")
        return try Bool.fetchOne(statement) ?? false
    }

    static func contains(_ identifier: ItemIdentifier, in rows: Rows) throws -> Bool {
        try Bool.fetchOne(
            rows, sql: "SELECT EXISTS (SELECT 1 FROM incoming WHERE identifier = ?)", arguments: [identifier.rawValue])
            ?? false
    }

    /// Removes all changes noted up to a sequence: a complete listing replaces them.
    static func removeAll(upTo sequence: Int64, from rows: Rows) throws {
        try rows.execute(sql: "DELETE FROM incoming WHERE sequence <= ?", arguments: [sequence])
    }

    static func lastSequence(in rows: Rows) throws -> Int64 {
        try Int64.fetchOne(rows, sql: "SELECT max(sequence) FROM incoming") ?? 0
    }

    static func count(in rows: Rows) throws -> Int {
        try Int.fetchOne(rows, sql: "SELECT count(*) FROM incoming") ?? 0
    }
}

/// The recorded form of an item, with a marker if its content is in doubt.
private struct NotedItem: Codable {
    var item: Item
    var rewrite: PossibleRewrite

    private enum Key: CodingKey { case rewrite }

    init(item: Item, rewrite: PossibleRewrite) {
        self.item = item
        self.rewrite = rewrite
    }

    init(from decoder: any Decoder) throws {
        item = try Item(from: decoder)
        let container = try decoder.container(keyedBy: Key.self)
        rewrite = try container.decodeIfPresent(PossibleRewrite.self, forKey: .rewrite) ?? .no
    }

    func encode(to encoder: any Encoder) throws {
        try item.encode(to: encoder)
        guard rewrite != .no else { return }
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(rewrite, forKey: .rewrite)
    }
}
