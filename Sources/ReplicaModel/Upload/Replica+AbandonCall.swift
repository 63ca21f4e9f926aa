internal import CLinux
internal import Glibc
internal import SystemPackage

extension Replica {
    /// Cancels a call that was not made: it can't have arrived, so the store is not queried about it.
    func abandon(_ outgoing: OutgoingCall) {
        withTree { tree in
            guard let node = tree.items[outgoing.number] else { return }
            tree.endFlight(node)
            node.changedAt = tree.clock.now()
            tree.undoBegin(of: outgoing, node)
        }
    }

    /// Makes everything that waits after a failure retry.
    func clearFailures() -> [ItemNumber] {
        withTree { tree in
            var numbers: [ItemNumber] = []
            for node in tree.pending.values.sorted(by: { $0.number < $1.number }) where node.failure != nil {
                node.failure?.retryAt = 0
                numbers.append(node.number)
            }
            return numbers
        }
    }

    /// Moves an item that the store refused out of the tree, into `kept/` (MODEL.md#deletion): a nil answer deletes the
    /// item, but never local bytes.
    func preserveRefused(_ number: ItemNumber) {
        let mayGo = withTree { tree in
            guard let node = tree.items[number], node.flags.contains(.refused) else { return false }
            return node.kind != .folder || node.children?.isEmpty == true
        }
        guard mayGo else { return }
        let folders = self.folders
        do throws(ReplicaError) {
            try removeFromTree(number) { (tree, node) throws(ReplicaError) in
                try tree.moveToPreserved(node, folders)
                tree.makeTombstone(node)
            }
        } catch {
            // The item stays in place as a local item: nothing is lost.
        }
    }
}

extension Tree {
    /// Moves a node's file into `kept/`, under its name and number; a placeholder has no content to keep.
    fileprivate func moveToPreserved(_ node: Node, _ folders: StateFolders) throws(ReplicaError) {
        let place = try place(of: node)
        try errnos { () throws(Errno) in
            guard node.materialization == .dataless else {
                return try folders.keep(place, of: node.number.rawValue, node.name)
            }
            let flags = node.kind == .folder ? AT_REMOVEDIR : 0
            try place.name.withCString { (name) throws(Errno) in
                try Errno.check(unlinkat(place.folder, name, flags))
            }
        }
    }
}
