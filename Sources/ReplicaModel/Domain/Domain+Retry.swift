internal import GRDB
package import SystemPackage
internal import Threads

extension Domain {
    /// Retries everything that waits after a failure, immediately.
    package func retry() {
        engine.pause.stop()
        engine.store.pollEverything()
        engine.state.withLock { state in
            state.storeFailure = nil
            state.pulls.isWanted = true
            state.rejected.refused = []
            state.postponed.removeAll()
        }
        engine.fetches.withLock { $0.failed = FailedFetches() }
        replica.forgetFailures()
        let numbers = replica.makeDue { _, _ in true }
        engine.uploadQueue.withLock { $0.add(numbers) }
        wakeSignal.signal()
    }

    /// Retries an item, and everything below it, immediately.
    /// - Throws: ENOENT; ENOTDIR.
    package func retry(_ path: [FileName]) async throws(Errno) {
        let held = try await hold(path, listing: false)
        defer { release(held) }
        engine.pause.stop()
        engine.state.withLock { $0.storeFailure = nil }
        let numbers = replica.makeDue { tree, node in
            guard let above = tree.items[held.number] else { return false }
            return node.isInside(above)
        }
        engine.uploadQueue.withLock { $0.add(numbers) }
        wakeSignal.signal()
    }

    /// Reports that the cause of an error is gone: everything that waits for that continues (signalErrorResolved).
    /// - Parameter code: A ``RemoteStoreError/code``.
    /// - Throws: EINVAL for a code that no item waits for: only notAuthenticated, insufficientQuota,
    ///   readOnly, serverUnreachable, busy, cannotSynchronize and excludedFromSync can be resolved.
    package func resolved(_ code: String) throws(Errno) {
        guard Self.resolvable.contains(code) else { throw .invalidArgument }
        if code == RemoteStoreError.busy(seconds: 0).code { engine.pause.stop() }
        engine.state.withLock { state in
            if state.storeFailure?.code == code { state.storeFailure = nil }
            state.pulls.isWanted = true
        }
        let isExcluded = code == RemoteStoreError.excludedFromSync.code
        let numbers = isExcluded ? replica.includeAgain() : replica.makeDue { $1.failure?.code == code }
        engine.uploadQueue.withLock { $0.add(numbers) }
        wakeSignal.signal()
    }

    /// The codes that ``resolved(_:)`` accepts.
    package static let resolvable: Set<String> = [
        "notAuthenticated", "insufficientQuota", "readOnly", "serverUnreachable", "busy",
        "cannotSynchronize", "excludedFromSync",
    ]
}

extension Replica {
    /// Makes the pending items that `isMeant` accepts due now.
    func makeDue(_ isMeant: (Tree, Node) -> Bool) -> [ItemNumber] {
        withTree { tree in
            tree.pending.values.filter { $0.failure != nil && isMeant(tree, $0) }.map { node in
                node.failure?.retryAt = 0
                tree.note(node)
                return node.number
            }
        }
    }

    /// Clears the failures of items that have nothing to send: what failed is tried again when it is requested.
    fileprivate func forgetFailures() { forgetFailures(recorded(where: "errorCode IS NOT NULL")) }

    func forgetFailures(_ numbers: [ItemNumber]) {
        for number in numbers {
            withTree { tree in
                // One that can't be loaded has no folder any more.
                guard tree.pending[number] == nil, let node = try? tree.find(number), node.failure != nil else {
                    return
                }
                tree.clearFailure(node)
                tree.note(node)
            }
        }
    }

    /// The items whose rows meet a condition; a database that cannot be used names none.
    private func recorded(where condition: String) -> [ItemNumber] {
        do {
            try record()
            return try database.read { rows in
                try Int64.fetchAll(rows, sql: "SELECT number FROM item WHERE \(condition)")
            }.map { ItemNumber(UInt64(bitPattern: $0)) }
        } catch {
            return []
        }
    }

    /// Offers excluded and refused items to the store again.
    fileprivate func includeAgain() -> [ItemNumber] {
        recorded(where: "flags & \(flags: .excluded) = \(flags: .excluded)").compactMap { number in
            do throws(ReplicaError) {
                return try withTreeWaking { (tree) throws(ReplicaError) -> ItemNumber? in
                    guard let node = try tree.find(number), node.flags.contains(.excluded) else { return nil }
                    tree.edit(node, ItemFields.ofNew(node.kind))
                    return number
                }
            } catch {
                return nil  // Its folder is gone.
            }
        }
    }
}
