internal import Foundation
internal import GRDB

extension SyncAnchor {
    /// Records the anchor in the transaction that notes the changes before it, so that a crash loses none of them.
    func record(in rows: Rows) throws {
        try Meta.anchor.write(Data(bytes).base64EncodedString(), to: rows)
        try Meta.listsAnew.write(nil, to: rows)
    }

    /// The last recorded anchor; nil if there is none.
    static func recorded(in rows: Rows) throws -> SyncAnchor? {
        try Meta.anchor.read(from: rows).flatMap { Data(base64Encoded: $0) }.map { SyncAnchor(bytes: Array($0)) }
    }
}

extension Replica {
    /// The store's anchor up to which all changes are noted; nil if the store has to be listed again.
    func anchor() -> SyncAnchor? {
        let listsAnew = try? database.read { try Meta.listsAnew.read(from: $0) != nil }
        return listsAnew == false ? lastAnchor() : nil
    }

    /// The store's last anchor, which identifies the store. Some changes before it may not be noted.
    func lastAnchor() -> SyncAnchor? {
        // If the database can't be read, everything is listed again.
        (try? database.read { try SyncAnchor.recorded(in: $0) }).flatMap { $0 }
    }
}
