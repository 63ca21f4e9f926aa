internal import Foundation
internal import SystemPackage

extension Replica {
    /// Keeps the local content of a conflict under a name of its own, as a new item for the store (MODEL.md#conflicts).
    func makeConflictCopy(of number: ItemNumber) throws(ReplicaError) {
        let (host, day) = (Self.host, Self.day(clock.wall()))
        try rename(number) { (tree, node) throws(ReplicaError) in
            guard let folder = node.parent else { throw .errno(.noSuchFileOrDirectory) }
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
