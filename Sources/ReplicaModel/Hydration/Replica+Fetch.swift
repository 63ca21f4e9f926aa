internal import CLinux
internal import Glibc
internal import SystemPackage
internal import Threads

/// What a fetch into a placeholder needs to know about the file.
struct FetchTarget: Sendable {
    var number: ItemNumber
    /// The number that programs see.
    var inodeNumber: ItemNumber
    var identifier: ItemIdentifier
    var version: String
    /// The metadata version that belongs to this content version.
    var metadataVersion: String
    var size: Int64
    /// The size in the store; it differs from `size` if the file was truncated here.
    var sizeInStore: Int64
    var generation: UInt32
    /// The value of ``Node/evictions`` when the fetch began.
    var evictions: UInt32
    /// Whether none of the content is local.
    var isUntouched: Bool
    /// The parts of the requested range that are not local, in order.
    var missing: [Range<Int64>]
}

extension Replica {
    /// What to fetch so that `range` of a file becomes local, or all of it if `range` is nil. Returns nil if it is
    /// already local.
    func fetchTarget(_ number: ItemNumber, range: Range<Int64>?) throws(ReplicaError) -> FetchTarget? {
        try withTreeWaking { (tree) throws(ReplicaError) in
            guard let node = tree.items[inode: number] else { throw .errno(.stale) }
            guard node.kind == .file, node.materialization != .whole else { return nil }
            guard let base = node.base else { throw .errno(.stale) }
            // A file that was truncated here is shorter than in the store: the rest is never fetched.
            let size = node.fingerprint.size
            let wanted = (range ?? 0..<size).clamped(to: 0..<size)
            let missing = node.ranges.missing(in: wanted)
            guard !missing.isEmpty || node.ranges.missing(in: 0..<size).isEmpty else { return nil }
            return FetchTarget(
                number: node.number, inodeNumber: node.inodeNumber, identifier: base.identifier,
                version: base.version.content, metadataVersion: base.version.metadata,
                size: size, sizeInStore: base.size, generation: node.generation, evictions: node.evictions,
                isUntouched: node.materialization == .dataless, missing: missing)
        }
    }

    /// Whether the file's content has changed since the target was determined; nil if the file is gone.
    func hasOtherContent(than target: FetchTarget) -> Bool? {
        withTree { tree in
            guard let node = tree.items[target.number], !node.isDeleted, let base = node.base else { return nil }
            return base.version.content != target.version || node.materialization == .whole
        }
    }

    /// Whether the item's metadata version is still that of the target, and the file still a placeholder.
    func isAsKnown(by target: FetchTarget) -> Bool {
        withTree { tree in
            guard let node = tree.items[target.number], !node.isDeleted else { return false }
            return node.base?.version.metadata == target.metadataVersion && node.materialization != .whole
        }
    }

    /// A descriptor of the placeholder to write to. The caller closes it.
    func openForFetch(_ target: FetchTarget) throws(ReplicaError) -> Int32 {
        if !withTree({ $0.items[target.number]?.hasRow ?? true }) {
            // After a crash, the scan would take an unrecorded placeholder with data for a copy of another one. A database that can't be
            // written is no reason not to read.
            try? record()
        }
        return try withTreeWaking { (tree) throws(ReplicaError) in
            let node = try tree.fetched(target)
            let place = try tree.place(of: node)
            return try errnos { () throws(Errno) in
                try place.hold { (file) throws(Errno) in
                    let status = try file.status()
                    try node.demandKnown(status)
                    let own = status.permissions
                    let mode = tree.store.privileges.replicated(own)
                    // Clears the set-ID bits, as any write by another user does.
                    if mode != own {
                        try file.setMode(UInt32(mode))
                        node.fingerprint = FileFingerprint(try file.status())
                        tree.note(node)
                    }
                    return try file.open(O_WRONLY)
                }
            }
        }
    }

    /// Writes fetched bytes into the placeholder if it is still the target of this fetch. Preserves the times.
    /// - Parameters:
    ///   - descriptor: The placeholder's.
    ///   - write: Writes the bytes of `range`.
    /// - Returns: Whether the whole content is local now.
    /// - Throws: ESTALE if the bytes are no longer wanted, EAGAIN if the file was truncated, or the error of `write`.
    func fill(
        _ range: Range<Int64>, of target: FetchTarget, to descriptor: Int32, _ write: () throws(Errno) -> Void
    ) throws(ReplicaError) -> Bool {
        try fillLocks.withLock(target.inodeNumber) { () throws(ReplicaError) in
            try withTreeWaking { (tree) throws(ReplicaError) in _ = try tree.fetched(target) }
            try errnos(write)
            return try withTreeWaking { (tree) throws(ReplicaError) in
                let node = try tree.fetched(target)
                try errnos { () throws(Errno) in try node.keepTime(of: descriptor) }
                node.ranges.insert(range.clamped(to: 0..<target.size))
                node.materialization = .partial
                return node.ranges.missing(in: 0..<target.size).isEmpty
            }
        }
    }

    /// Turns a placeholder with all of its bytes into a complete file. The bytes are on the disk before the mark is
    /// removed.
    func completeFetch(_ target: FetchTarget, descriptor: Int32) throws(ReplicaError) {
        guard fdatasync(descriptor) == 0 else { throw .errno(.last) }
        try fillLocks.withLock(target.inodeNumber) { () throws(ReplicaError) in
            try withTreeWaking { (tree) throws(ReplicaError) in try tree.complete(target, descriptor) }
        }
        let presenter = self.presenter.withLock { $0 }
        presenter?.invalidate(target.number)
    }

    /// Discards the ranges of a fetch whose answer turned out to be invalid.
    func dropFetched(_ ranges: [Range<Int64>], of target: FetchTarget, descriptor: Int32) {
        do throws(ReplicaError) {
            try fillLocks.withLock(target.inodeNumber) { () throws(ReplicaError) in
                try withTreeWaking { (tree) throws(ReplicaError) in
                    let node = try tree.fetched(target)
                    for range in ranges { node.ranges.remove(range) }
                    if node.ranges.isEmpty { node.materialization = .dataless }
                    tree.note(node)
                    let hole = CL_FALLOC_FL_PUNCH_HOLE | CL_FALLOC_FL_KEEP_SIZE
                    // Even if the hole can't be punched, the range is no longer considered local.
                    for range in ranges { _ = fallocate(descriptor, hole, range.lowerBound, Int64(range.count)) }
                    try errnos { () throws(Errno) in try node.keepTime(of: descriptor) }
                }
            }
        } catch {
            return  // The file was replaced or deleted in the meantime.
        }
        presenter.withLock { $0 }?.invalidate(target.number)
    }

    /// Records an error of the store at an item.
    /// - Parameter retryAt: Seconds since 1970; nil if it waits for the user.
    /// - Returns: Whether the item is known here.
    @discardableResult
    func noteFailure(of identifier: ItemIdentifier, _ error: RemoteStoreError, retryAt: Double?) -> Bool {
        withTree { tree in
            guard let node = tree.items[identifier] else { return false }
            tree.setFailure(of: node, code: error.code, error.message, retryAt: retryAt)
            return true
        }
    }

    /// Records the ranges fetched so far, after syncing them to the disk.
    func pauseFetch(_ target: FetchTarget, descriptor: Int32) {
        _ = fdatasync(descriptor)
        withTree { tree in tree.items[target.number].map(tree.note) }
    }
}

extension Node {
    /// Restores the modification time after one of our own writes.
    func keepTime(of descriptor: Int32) throws(Errno) {
        let kept = timespec(tv_sec: 0, tv_nsec: CL_UTIME_OMIT)
        try Errno.check(futimens(descriptor, [kept, Timestamp(nanoseconds: fingerprint.modified).timespec]))
    }
}

extension Tree {
    fileprivate func complete(_ target: FetchTarget, _ descriptor: Int32) throws(ReplicaError) {
        let node = try fetched(target)
        let seen = node.shownChangeTime(node.fingerprint.changed)
        try errnos { () throws(Errno) in
            // By its descriptor, because another placeholder may have taken over the name, and would lose its mark.
            try HeldFile(descriptor: descriptor).setXattr(OwnXattr.dataless, nil)
            try node.keepTime(of: descriptor)
        }
        clearFailure(node)
        node.materialization = .whole
        node.ranges = RangeSet64()
        node.usedAt = clock.now()
        refreshFingerprint(node)
        node.keepChangeTime(seen)
        note(node)
    }

    /// The node of a fetch, if it still has the version that is being fetched.
    fileprivate func fetched(_ target: FetchTarget) throws(ReplicaError) -> Node {
        guard let node = items[target.number], !node.isDeleted, node.generation == target.generation,
            node.evictions == target.evictions, node.base?.version.content == target.version,
            node.materialization != .whole
        else { throw .errno(.stale) }
        guard node.fingerprint.size == target.size else { throw .errno(.resourceTemporarilyUnavailable) }
        return node
    }
}
