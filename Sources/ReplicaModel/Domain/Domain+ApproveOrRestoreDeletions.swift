internal import GRDB
internal import SystemPackage
internal import Threads

/// The result of ``Domain/restore()``.
package struct Restoration: Sendable, Hashable {
    /// Items that are sent to the store again.
    package var items = 0
    /// Items that still wait because their content is not local.
    package var left = 0
}

extension Domain {
    /// Lets a held mass deletion continue (MODEL.md#deletion), or accepts the content of a store that is not the same
    /// one as before.
    /// - Returns: The number of deleted items; nil if nothing waits for approval.
    @discardableResult
    package func approve() -> Int? {
        let count = engine.state.withLock { state -> Int? in
            if state.deletions.held > 0 {
                defer { state.deletions.held = 0 }
                state.deletions.isApproved = true
                return state.deletions.held
            }
            guard state.storeFailure?.code == RemoteStoreError.cannotSynchronize("").code else { return nil }
            (state.pulls.takesOtherStore, state.pulls.isWanted, state.storeFailure) = (true, true, nil)
            return 0
        }
        wakeSignal.signal()
        return count
    }

    /// The opposite: uploads the held items again to the store that deleted them, as far as they are local.
    /// - Returns: Nil if nothing is held.
    /// - Throws: The database's error.
    package func restore() throws -> Restoration? {
        guard engine.state.withLock({ $0.deletions.held > 0 }) else { return nil }
        let done = try replica.restoreDeleted()
        engine.state.withLock { $0.deletions.held = done.left }
        wakeSignal.signal()
        return done
    }
}

extension Replica {
    /// Turns the items that the noted deletions would remove into new items, except those that are not local.
    fileprivate func restoreDeleted() throws -> Restoration {
        try record()
        let numbers = try database.read { try DeletionCounts.numbers(in: $0) }
        let asked = answers
        var (done, restored, left) = (Restoration(), [ItemIdentifier](), [Incoming]())
        for number in numbers {
            let found = try withTreeWaking { (tree) throws(ReplicaError) -> (ItemIdentifier, isHere: Bool)? in
                guard let node = try tree.find(number), !node.isDeleted, let base = node.base else { return nil }
                guard node.materialization == .whole, !node.isInFlight else { return (base.identifier, false) }
                tree.convertToNewItem(node)
                return (base.identifier, true)
            }
            guard let (identifier, isHere) = found else { continue }
            if isHere {
                restored.append(identifier)
            } else {
                left.append(Incoming(identifier: identifier, item: nil, asked: asked))
            }
        }
        (done.items, done.left) = (restored.count, left.count)
        try record { [restored, left] rows in
            for identifier in restored { try Incoming.removeDeletion(of: identifier, from: rows) }
            // Each is noted separately: the deletion of their folder, which included them, is no longer noted.
            try Incoming.write(left, anchor: nil, to: rows)
        }
        return done
    }
}
