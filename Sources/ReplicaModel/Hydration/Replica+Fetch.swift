internal import CLinux
internal import Glibc
internal import SystemPackage
internal import Threads

/// What a fetch into a placeholder needs to know.
struct FetchTarget: Sendable {
    var number: ItemNumber
    /// What programs see the file as.
    var inodeNumber: ItemNumber
    var identifier: ItemIdentifier
    var version: String
    /// The metadata version that goes with it.
    var metadataVersion: String
    var size: Int64
    /// The size that the store has, from which a cut here differs.
    var sizeInStore: Int64
    var generation: UInt32
    /// ``Node/evictions`` when it began.
    var evictions: UInt32
    /// Whether nothing of the content is here yet.
    var isUntouched: Bool
    /// What of the range asked for is not here, in order.
    var missing: [Range<Int64>]
}

extension Replica {
    /// What to fetch so that `range` of a file is here, or all of it for nil; nil when it is.
    func fetchTarget(_ number: ItemNumber, range: Range<Int64>?) throws(ReplicaError) -> FetchTarget? {
        try withTreeWaking { (tree) throws(ReplicaError) in
            guard let node = tree.items[inode: number] else { throw .errno(Errno(rawValue: ESTALE)) }
            guard node.kind == .file, node.materialization != .whole else { return nil }
            guard let base = node.base else { throw .errno(Errno(rawValue: ESTALE)) }
            // Shorter than in the store when it was cut here: the rest is never fetched.
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

    /// Whether a file has another content by now than what was to be fetched for it; nil when it is gone.
    func hasOtherContent(than target: FetchTarget) -> Bool? {
        withTree { tree in
            guard let node = tree.items[target.number], !node.isDeleted, let base = node.base else { return nil }
            return base.version.content != target.version || node.materialization == .whole
        }
    }

    /// Whether the file is known as it was when this was to be fetched for it.
    func isAsKnown(by target: FetchTarget) -> Bool {
        withTree { tree in
            guard let node = tree.items[target.number], !node.isDeleted else { return false }
            return node.base?.version.metadata == target.metadataVersion && node.materialization != .whole
        }
    }

    /// A descriptor of the placeholder that fetched bytes go to; the caller's to close.
    func openForFetch(_ target: FetchTarget) throws(ReplicaError) -> Int32 {
        try withTreeWaking { (tree) throws(ReplicaError) in
            let node = try tree.fetched(target)
            let place = try tree.place(of: node)
            return try errnos { () throws(Errno) in
                try place.hold { (file) throws(Errno) in
                    let status = try file.status()
                    try node.demandKnown(status)
                    let own = status.permissions
                    let mode = tree.policy.privileges.replicated(own)
                    // As a write by anybody but the owner does.
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

    /// Puts fetched bytes into the placeholder, if it still is one of what is fetched. Its times stay.
    /// - Parameters:
    ///   - descriptor: Of the placeholder.
    ///   - write: Writes the bytes of `range`.
    /// - Returns: Whether the whole content is here now.
    /// - Throws: ESTALE when they are not wanted any more, EAGAIN when the file was cut; or what `write` throws.
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

    /// Makes a file whose bytes are all here a whole one. They are on the disk before the mark goes.
    func completeFetch(_ target: FetchTarget, descriptor: Int32) throws(ReplicaError) {
        guard fdatasync(descriptor) == 0 else { throw .errno(.last) }
        try fillLocks.withLock(target.inodeNumber) { () throws(ReplicaError) in
            try withTreeWaking { (tree) throws(ReplicaError) in try tree.complete(target, descriptor) }
        }
        let presenter = self.presenter.withLock { $0 }
        presenter?.invalidate(target.number)
    }

    /// Takes back what a fetch brought whose answer shows that it may be anything.
    func dropFetched(_ ranges: [Range<Int64>], of target: FetchTarget, descriptor: Int32) {
        do throws(ReplicaError) {
            try fillLocks.withLock(target.inodeNumber) { () throws(ReplicaError) in
                try withTreeWaking { (tree) throws(ReplicaError) in
                    let node = try tree.fetched(target)
                    for range in ranges { node.ranges.remove(range) }
                    if node.ranges.isEmpty { node.materialization = .dataless }
                    tree.note(node)
                    let hole = CL_FALLOC_FL_PUNCH_HOLE | CL_FALLOC_FL_KEEP_SIZE
                    // What stays on the disk is no longer said to be here.
                    for range in ranges { _ = fallocate(descriptor, hole, range.lowerBound, Int64(range.count)) }
                    try errnos { () throws(Errno) in try node.keepTime(of: descriptor) }
                }
            }
        } catch {
            return  // It is another file by now, or gone.
        }
        presenter.withLock { $0 }?.invalidate(target.number)
    }

    /// Shows an error of the store at an item.
    /// - Parameter retryAt: In seconds since 1970; nil when it waits for a person.
    /// - Returns: Whether the item is here.
    @discardableResult
    func noteFailure(of identifier: ItemIdentifier, _ error: RemoteStoreError, retryAt: Double?) -> Bool {
        withTree { tree in
            guard let node = tree.items[identifier] else { return false }
            tree.fail(node, code: error.code, error.message, retryAt: retryAt)
            return true
        }
    }

    /// Notes the ranges fetched so far, once they are on the disk.
    func pauseFetch(_ target: FetchTarget, descriptor: Int32) {
        _ = fdatasync(descriptor)
        withTree { tree in tree.items[target.number].map(tree.note) }
    }
}

extension Node {
    /// Takes back what a write of ours did to the modification time.
    func keepTime(of descriptor: Int32) throws(Errno) {
        let kept = timespec(tv_sec: 0, tv_nsec: CL_UTIME_OMIT)
        try Errno.check(futimens(descriptor, [kept, Timestamp(nanoseconds: fingerprint.modified).timespec]))
    }
}

extension Tree {
    fileprivate func complete(_ target: FetchTarget, _ descriptor: Int32) throws(ReplicaError) {
        let node = try fetched(target)
        try errnos { () throws(Errno) in
            // Not by its name: the mark of another placeholder, which somebody gave that name, would go.
            try HeldFile(descriptor: descriptor).setXattr(OwnXattr.dataless, nil)
            try node.keepTime(of: descriptor)
        }
        clearFailure(node)
        node.materialization = .whole
        node.ranges = RangeSet64()
        node.usedAt = now()
        refreshFingerprint(node)
        note(node)
    }

    /// The node that a fetch is for, still at the version that is fetched.
    fileprivate func fetched(_ target: FetchTarget) throws(ReplicaError) -> Node {
        guard let node = items[target.number], !node.isDeleted, node.generation == target.generation,
            node.evictions == target.evictions, node.base?.version.content == target.version,
            node.materialization != .whole
        else { throw .errno(Errno(rawValue: ESTALE)) }
        guard node.fingerprint.size == target.size else { throw .errno(.resourceTemporarilyUnavailable) }
        return node
    }
}
