/// Whether bytes of a file can be read from its descriptor.
package enum Presence: Sendable, Hashable {
    case here
    /// They have to be fetched by ``Domain/hydrate(_:range:)``.
    case absent
    /// The backing file was replaced before any of its content was local: ``Replica/reopen(_:since:)``.
    case exchanged
    /// The file was replaced by a newer version since it was opened, before these bytes were here: ESTALE.
    case stale
}

extension Replica {
    /// Whether `range` of a file can be read from a descriptor that was opened in `generation`.
    /// - Parameter placeholder: ``OpenFile/placeholder`` of the descriptor; nil if nothing is read from it.
    package func presence(
        of number: ItemNumber, range: Range<Int64>, since generation: UInt32, placeholder: UInt64? = nil
    ) -> Presence {
        withTree { tree in
            guard let node = tree.items[inode: number] else { return .stale }
            guard node.generation == generation else { return .stale }
            guard placeholder == nil || placeholder == node.fingerprint.inode else { return .exchanged }
            guard node.materialization != .whole else { return .here }
            guard node.base != nil else { return .stale }
            let end = min(range.upperBound, node.fingerprint.size)
            guard range.lowerBound < end else { return .here }
            return node.ranges.missing(in: range.lowerBound..<end).isEmpty ? .here : .absent
        }
    }

    /// Whether it is a file of which nothing is local.
    package func isDataless(_ number: ItemNumber) -> Bool {
        withTree { tree in
            guard let node = tree.items[inode: number] else { return false }
            return node.kind == .file && node.materialization == .dataless
        }
    }

    /// The version of the store's content of a file; nil if the store has none.
    package func contentVersion(of number: ItemNumber) -> String? {
        withTree { $0.items[inode: number]?.base?.version.content }
    }
}
