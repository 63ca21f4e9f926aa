internal import CLinux
internal import Glibc
package import SystemPackage
internal import Threads

/// Why an item can't be evicted (MODEL.md#eviction).
package enum EvictionRefusal: Error, Hashable, Sendable {
    /// The store does not have its local state.
    case unsyncedEdits
    /// The store deleted it, which is not applied here.
    case deletedInStore
    /// Whether the store has it can't be verified: it can't be reached, is another one, or was disconnected.
    case storeUnavailable
    /// It is pinned.
    case pinned
    /// It is open, or mapped.
    case open
    /// It has several names.
    case hardLinked
    /// It does not exist, or is of a kind that can't be evicted.
    case notEvictable
    /// It has set-user-ID or set-group-ID bits, which would be lost when it is fetched again.
    case setID
    /// It has capabilities(7), which the kernel removes with the content, and which would be lost when it is fetched
    /// again.
    case capabilities
    case failed(Errno)
}

extension Replica {
    /// Why a file can't be evicted; nil if it can.
    func evictionRefusal(of number: ItemNumber) -> EvictionRefusal? {
        withTree { tree in
            do throws(ReplicaError) {
                guard let node = try tree.find(number), node.kind == .file else { return nil }
                return try tree.refusalToEvict(node)
            } catch {
                return .failed(error.errno)
            }
        }
    }
}

extension Tree {
    /// Why the node can't be evicted; nil if it can.
    func refusalToEvict(_ node: Node) throws(ReplicaError) -> EvictionRefusal? {
        if node.flags.contains(.special) { return .notEvictable }
        guard node.materialization != .dataless else { return nil }
        // Edits made directly in the backing tree are detected before anything is freed.
        settleWrittenFile(items.holder(of: node))
        _ = try entry(of: node)
        guard node.base?.size != 0 || !node.dirty.isEmpty else { return nil }
        if isPinned(node) { return .pinned }
        if !node.dirty.isEmpty || node.isNew || node.isInFlight || node.base?.isUploaded == false
            || !node.flags.isDisjoint(with: .inDoubt)
        {
            return .unsyncedEdits
        }
        if items.isLinked(node) { return .hardLinked }
        if node.fingerprint.mode != store.privileges.replicated(node.fingerprint.mode) { return .setID }
        if try hasCapabilities(node) { return .capabilities }
        return node.opens > 0 || node.writers > 0 || node.mayBeMapped ? .open : nil
    }

    private func hasCapabilities(_ node: Node) throws(ReplicaError) -> Bool {
        let place = try place(of: node)
        return try errnos { () throws(Errno) in try place.xattrNames().contains("security.capability") }
    }
}
