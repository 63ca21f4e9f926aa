internal import CLinux
internal import Glibc
public import SystemPackage

/// Why something is not evicted (file-provider.md §15).
public enum EvictionRefusal: Error, Hashable, Sendable {
    /// It is not in the store as it is here.
    case unsyncedEdits
    /// It is to be kept here.
    case pinned
    /// Somebody has it open.
    case open
    /// It has several names.
    case hardLinked
    /// There is no such item, or it cannot be evicted at all.
    case notEvictable
    /// Something below could not be evicted: its path from the root, and why.
    indirect case child([FileName], EvictionRefusal)
    case failed(Errno)
}

extension Replica {
    /// Gives back the space of a file's content; size, times and attributes stay. Dataless already is a success.
    func evictFile(_ number: ItemNumber) throws(EvictionRefusal) {
        let result = look { tree -> Result<Void, EvictionRefusal> in
            guard let node = tree.items[number] ?? tree.shown[number] else { return .failure(.notEvictable) }
            guard node.kind == .file, !node.flags.contains(.special) else {
                return node.kind == .symlink ? .success(()) : .failure(.notEvictable)
            }
            tree.settle(node)
            if let refusal = tree.evictionRefusal(of: node) { return .failure(refusal) }
            do throws(Obstacle) {
                try tree.punch(node)
                return .success(())
            } catch {
                return .failure(.failed(error.errno))
            }
        }
        try result.get()
        presenter.withLock { $0 }?.invalidate(number)
    }
}

extension Tree {
    /// Why the node's content has to stay, or nil.
    func evictionRefusal(of node: Node) -> EvictionRefusal? {
        guard node.materialization != .dataless, (node.base?.size ?? 1) > 0 else { return nil }
        if isPinned(node) { return .pinned }
        if !node.dirty.isEmpty || node.base == nil || node.isInFlight || node.base?.isUploaded == false {
            return .unsyncedEdits
        }
        if linked[node.shown] != nil { return .hardLinked }
        return node.opens > 0 || node.writers > 0 ? .open : nil
    }

    /// Whether the nearest word of a person on the node or above it is to keep it here.
    func isPinned(_ node: Node) -> Bool {
        var here: Node? = node
        while let node = here {
            if node.pin != .inherited { return node.pin == .pinned }
            here = node.parent
        }
        return false
    }

    /// Marks the file first, then lets go of its bytes: a crash between leaves a file that is fetched again.
    fileprivate func punch(_ node: Node) throws(Obstacle) {
        guard node.materialization != .dataless, let base = node.base, base.size > 0 else { return }
        let place = try place(of: node)
        try errnos { () throws(Errno) in
            let status = try place.status()
            guard status.links == 1 else { throw Errno(rawValue: EMLINK) }
            try place.setXattr(OwnXattr.dataless, to: [])
            let file = try place.open(O_WRONLY)
            defer { close(file) }
            try Errno.check(ftruncate(file, 0))
            try Errno.check(ftruncate(file, Int(base.size)))
            let time = status.modified.timespec
            try Errno.check(futimens(file, [status.accessed.timespec, time]))
        }
        node.materialization = .dataless
        node.ranges = RangeSet64()
        restamp(node)
        note(node)
    }
}
