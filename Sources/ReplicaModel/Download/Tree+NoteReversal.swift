internal import Foundation
internal import GRDB
internal import SystemPackage

extension Tree {
    /// Whether the store's new content of a file is older than the former one. Then its deletions are expected to be
    /// those of files that are newer than a backup.
    func noteReversal(_ node: Node, _ item: Item) -> Bool {
        guard node.kind == .file, let date = item.metadata.modificationDate,
            StoreReversal.isOne(from: Timestamp(nanoseconds: node.fingerprint.modified), to: date)
        else { return false }
        store.noteReversal(to: date, now: clock.now())
        return true
    }

    /// The time at which a file's bytes are moved to `kept/` because the store's content is older; nil if they are not: they are not
    /// here, or another name has them too.
    func keepsBytes(of node: Node, _ status: FileStatus, insteadOf item: Item) -> Timestamp? {
        guard StoreReversal.isOne(from: status.modified, to: item.metadata.modificationDate) else { return nil }
        return hasOnlyBytes(node, status) ? wallTime : nil
    }

    /// The same for a file that the store no longer has.
    func keepsBytes(ofDeleted node: Node, _ status: FileStatus) -> Timestamp? {
        let isExplained = store.reversal?.explainsDeletion(
            born: status.born, modified: status.modified, now: clock.now())
        return isExplained == true && hasOnlyBytes(node, status) ? wallTime : nil
    }

    private func hasOnlyBytes(_ node: Node, _ status: FileStatus) -> Bool {
        node.kind == .file && node.materialization == .whole && status.size > 0 && status.links == 1
    }

    private var wallTime: Timestamp { Timestamp(secondsSince1970: clock.wall()) }
}

extension Replica {
    /// Finds out whether contents went back to earlier dates, before deletions that were noted with them are applied.
    /// - Precondition: All items are recorded, as after ``countDeletions(firstLater:)``.
    func noteIncomingReversals() throws {
        let now = now()
        let latest = try database.read { rows in
            let found = try Row.fetchCursor(
                rows,
                sql: """
                    SELECT item.modified, json_extract(incoming.item, '$.metadata.modificationDate.nanoseconds') AS date
                    FROM incoming JOIN item ON item.identifier = incoming.identifier
                    WHERE incoming.item IS NOT NULL AND item.kind = \(kind: .file)
                        AND json_extract(incoming.item, '$.version.content') != item.baseContent
                    """)
            var latest: Timestamp?
            while let row = try found.next() {
                let date = (row["date"] as Int64?).map { Timestamp(nanoseconds: $0) }
                guard let date, StoreReversal.isOne(from: Timestamp(nanoseconds: row["modified"]), to: date) else {
                    continue
                }
                latest = max(latest ?? date, date)
            }
            return latest
        }
        guard let latest else { return }
        withTree { $0.store.noteReversal(to: latest, now: now) }
    }
}
