internal import Foundation
internal import SystemPackage

extension Replica {
    /// Gives the two contents of a conflict an item each, unless they are equal.
    /// - Parameter asked: ``Incoming/asked``.
    /// - Returns: False if a call for the item began or was answered meanwhile.
    func separateContents(
        of number: ItemNumber, _ item: Item, asked: UInt64, _ staged: StagedContent?
    ) throws(ReplicaError) -> Bool {
        if try mergeIfEqual(number, item, staged) { return true }
        do throws(ReplicaError) {
            try makeConflictCopy(of: number, asked: asked)
        } catch {
            guard error.errno == .resourceBusy else { throw error }
            return false
        }
        return true
    }

    /// Keeps the local content of a conflict under a name of its own, as a new item for the store (MODEL.md#conflicts).
    /// - Throws: EBUSY if a call for the item began or was answered since.
    func makeConflictCopy(of number: ItemNumber, asked: UInt64) throws(ReplicaError) {
        let (host, day) = (Self.host, Self.day(clock.wall()))
        try rename(number) { (tree, node) throws(ReplicaError) in
            guard let folder = node.parent else { throw .errno(.noSuchFileOrDirectory) }
            guard !tree.isOutdated(node, asked: asked) else { throw .errno(.resourceBusy) }
            let name = tree.store.names.conflicts.conflict(of: node.name, host: host, day: day) {
                tree.isTaken($0, in: folder)
            }
            node.conflict = node.base.map { ConflictOrigin(original: $0.identifier, date: clock.wall()) }
            tree.setBase(nil, of: node)
            (node.sent, node.sentContent) = (nil, nil)
            node.flags.insert(.conflict)
            tree.edit(node, ItemFields.ofNew(node.kind))
            return (folder, name)
        }
        post(.conflict, number)
    }

    private static var host: String {
        String(ProcessInfo.processInfo.hostName.prefix { $0 != "." }.prefix(40))
    }

    private static func day(_ now: Double) -> String {
        Date(timeIntervalSince1970: now).formatted(.iso8601.year().month().day())
    }
}
