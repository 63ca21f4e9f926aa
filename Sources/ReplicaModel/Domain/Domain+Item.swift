internal import GRDB
package import SystemPackage
internal import Threads

extension Domain {
    /// The state of the item at a path below the root.
    /// - Throws: ENOENT; ENOTDIR; the errors of ``list(_:)`` if a folder on the path was never listed.
    package func item(at path: [FileName]) async throws(Errno) -> ItemReport {
        let held = try await hold(path, listing: true)
        defer { release(held) }
        guard let report = report(of: held.number) else { throw .noSuchFileOrDirectory }
        return report
    }

    /// The item with this identifier in the store, with its local place (getUserVisibleURL); nil if it is not known
    /// here, for example because its folder was never listed.
    /// - Throws: A ``DatabaseFailure``.
    package func item(identifiedBy identifier: ItemIdentifier) throws -> ItemReport? {
        try replica.record()
        let found = try replica.database.read { rows -> ItemReport? in
            guard let row = try ItemRow.of(identifier, in: rows), row.flags.isDisjoint(with: [.deleted, .reimport])
            else {
                return nil
            }
            var paths = PathReader()
            let (path, isPinned) = try paths.path(of: row, in: rows)
            return ItemReport(row, path: path, isPinned: isPinned)
        }
        return found.map(withTransfer)
    }

    /// The item with this number, if programs have it in use; nil otherwise.
    package func item(_ number: ItemNumber) -> ItemReport? {
        let own = replica.withTree { tree in tree.items[inode: number]?.number }
        return own.flatMap(report(of:))
    }

    private func report(of number: ItemNumber) -> ItemReport? {
        let found = replica.withTree { tree -> ItemReport? in
            guard let node = tree.items[number] else { return nil }
            tree.settle(node)
            return ItemReport(ItemRow(node), path: tree.path(of: node), isPinned: tree.isPinned(node))
        }
        return found.map(withTransfer)
    }

    /// Adds the running transfer, and converts the time of the next retry to the wall clock.
    func withTransfer(_ report: ItemReport) -> ItemReport {
        var report = report
        let retryAt = report.error?.retryAt.map(replica.wallTime)
        report.error?.retryAt = retryAt
        let number = report.number
        if let upload = engine.statistics.withLock({ $0.uploads[number] }) {
            report.transfer = ItemTransfer(isUpload: true, done: upload.done, size: upload.size)
        } else if let identifier = report.identifier,
            let fetch = engine.statistics.withLock({ $0.fetches[identifier] })
        {
            report.transfer = ItemTransfer(isUpload: false, done: fetch.done, size: fetch.size)
        }
        return report
    }
}
