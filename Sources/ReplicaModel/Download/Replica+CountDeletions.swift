internal import Foundation
internal import GRDB
internal import Glibc
internal import SystemPackage

extension Replica {
    /// Whether a deletion is noted and not applied yet.
    func hasDeletions() throws -> Bool {
        try database.read {
            try Bool.fetchOne($0, sql: "SELECT EXISTS (SELECT 1 FROM incoming WHERE item IS NULL AND asked >= 0)")
                ?? false
        }
    }

    /// Whether the store does not have the item, as far as is noted.
    func isDeletedInStore(_ number: ItemNumber) throws -> Bool {
        try database.read { try DeletionCounts.include(number, in: $0) }
    }

    /// The items that the noted deletions would remove, the number of the next item, and the deletions that are really
    /// replacements.
    /// - Parameter firstLater: ``DeletionWindow/firstLater``; nil before a window is opened.
    func countDeletions(
        firstLater: UInt64?
    ) throws -> (counts: DeletionCounts, nextNumber: UInt64, replaced: Set<ItemIdentifier>) {
        // All items have to be recorded, also those that were just listed.
        if hasChanges { try record() }
        let next = withTree { $0.items.numbers.next }
        return try database.read { rows in
            let counts = try DeletionCounts.read(firstLater: firstLater ?? next, from: rows)
            return (counts, next, try DeletionCounts.replaced(in: rows))
        }
    }

    /// The window that an earlier run left open, and how many deletions it holds. A window that can't be read may have
    /// held any number.
    func openWindow() -> (DeletionWindow?, held: Int) {
        // If the database can't be read there is none, and nothing is applied.
        let found = try? database.read { rows -> (DeletionWindow?, Int) in
            guard let text = try Meta.deletionWindow.read(from: rows) else { return (nil, 0) }
            let window =
                (try? JSONDecoder().decode(DeletionWindow.self, from: Data(text.utf8))) ?? .unreadable(now: now())
            let isHeld = window.decision == .held
            return (
                window.resumed(at: now()),
                isHeld ? try DeletionCounts.read(firstLater: window.firstLater, from: rows).noted : 0
            )
        }
        return found ?? (nil, 0)
    }

    func writeWindow(_ window: DeletionWindow?) throws {
        let text = try window.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) }
        try database.write { try Meta.deletionWindow.write(text, to: $0) }
    }

    /// Deletes all items that are set aside, except for files that are newer than a backup of the store.
    func discardAside() throws {
        try keepNewerAside()
        // Unrecorded rows must not be written later.
        try record { try SetAsideRows.removeAll(from: $0) }
        try folders.discardDeleted()
    }

    private func keepNewerAside() throws {
        let (reversal, now) = withTree { ($0.store.reversal, $0.clock.now()) }
        guard let reversal, reversal.isRecent(at: now) else { return }
        try record()
        let wall = Timestamp(secondsSince1970: clock.wall())
        let deleted = try folders.openDeleted()
        defer { Glibc.close(deleted) }
        for row in try database.read({ try SetAsideRows.all(in: $0) })
        where row.kind == .file && row.materialization == .whole && row.fingerprint.size > 0 {
            let (born, modified) = (row.fingerprint.born, row.fingerprint.modified)
            guard
                reversal.explainsDeletion(
                    born: Timestamp(nanoseconds: born), modified: Timestamp(nanoseconds: modified), now: now)
            else { continue }
            let place = BackingPath(folder: deleted, name: FileName(row.asideName))
            do throws(Errno) {
                _ = try folders.keepNewer(place, try place.status(), of: ItemNumber(row.number), row.name, now: wall)
            } catch {
                guard error == .noSuchFileOrDirectory else { throw error }  // It is in the tree again.
            }
        }
    }
}
