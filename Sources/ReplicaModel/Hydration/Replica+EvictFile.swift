internal import CLinux
internal import Glibc
internal import SystemPackage
internal import Threads

extension Replica {
    /// Frees the space of a file's content and keeps its size, times and attributes. Succeeds if the file is already
    /// dataless.
    /// - Returns: The number of bytes freed; nil if no content was local.
    @discardableResult
    func evictFile(_ number: ItemNumber) throws(EvictionRefusal) -> Int64? {
        // The placeholder of an item that the database does not know would be lost in a crash.
        if withTree({ $0.unrecorded.nodes[number] != nil }) {
            do { try record() } catch { throw .failed(Errno(state: error)) }
        }
        let result = withTree { tree -> Result<(Int64, ItemNumber)?, EvictionRefusal> in
            do throws(ReplicaError) {
                guard let node = try tree.find(number), node.kind == .file else { return .success(nil) }
                guard tree.unrecorded.nodes[number] == nil else { return .failure(.unsyncedEdits) }
                if let refusal = try tree.refusalToEvict(node) { return .failure(refusal) }
                guard node.materialization != .dataless, node.base?.size != 0 else { return .success(nil) }
                let bytes = node.materialization == .whole ? node.fingerprint.size : node.ranges.count
                try tree.punch(node)
                return .success((bytes, node.inodeNumber))
            } catch {
                return .failure(error.errno == .resourceTemporarilyUnavailable ? .open : .failed(error.errno))
            }
        }
        guard let (bytes, inodeNumber) = try result.get() else { return nil }
        presenter.withLock { $0 }?.invalidate(inodeNumber)
        post(.evicted, number)
        return bytes
    }

    /// Whether any content of the file is local.
    func hasContent(_ number: ItemNumber) -> Bool {
        withTree { tree in tree.items[number].map { $0.kind == .file && $0.materialization != .dataless } ?? false }
    }
}

extension Tree {
    /// Marks the file before freeing its blocks, so that the next scan completes an eviction that a crash interrupted.
    fileprivate func punch(_ node: Node) throws(ReplicaError) {
        guard let base = node.base else { return }
        let place = try place(of: node)
        var isFinished = true
        let seen = try errnos { () throws(Errno) in
            try place.hold { (held) throws(Errno) in
                let status = try held.status()
                guard status.links == 1 else { throw Errno(rawValue: EMLINK) }
                // Somebody may have written to the backing tree since the checks.
                let now = FileFingerprint(status)
                let isOther = node.materialization == .whole && now.hasOtherBytes(than: node.fingerprint)
                guard now.isSameFile(as: node.fingerprint), !isOther else { throw .resourceBusy }
                let file = try held.open(O_WRONLY)
                defer { close(file) }
                // Only complete files are passed through; of another one, a fetch has a descriptor.
                if node.materialization == .whole { try HeldFile(descriptor: file).demandUnused() }
                try held.setXattr(OwnXattr.dataless, to: mark.whileEvicting)
                var isFreed = false
                do throws(Errno) {
                    try Self.releaseBlocks(of: file, size: base.size)
                    isFreed = true
                    try node.keepTime(of: file)
                    try held.setXattr(OwnXattr.dataless, to: mark.value)
                } catch {
                    // A mark that stayed would end the eviction at the next scan, and edits until then with it.
                    let former = node.materialization == .whole ? nil : mark.value
                    if !isFreed, node.isGivenBack(held, file, former, ifStill: status) { throw error }
                    // Bytes may be gone: it is a placeholder, and the next scan after a crash finishes that.
                    isFinished = false
                    _ = ftruncate(file, Int(base.size))
                }
                return node.shownChangeTime(status.changed.nanoseconds)
            }
        }
        node.materialization = .dataless
        node.ranges = RangeSet64()
        // This also invalidates bytes that a fetch has written but not yet reported.
        node.evictions += 1
        // Otherwise the size and the time on the disk may not be the file's.
        if isFinished { refreshFingerprint(node) }
        node.keepChangeTime(seen)
        note(node)
    }

    /// Frees the blocks of a file, which keeps its size.
    static func releaseBlocks(of file: Int32, size: Int64) throws(Errno) {
        let hole = CL_FALLOC_FL_PUNCH_HOLE | CL_FALLOC_FL_KEEP_SIZE
        // Beyond the end of the file, or else to a multiple of a block; otherwise the kernel would zero the last block instead of freeing it.
        let beyond: Int64 = 1 << 20
        let length = size > .max - beyond ? size : size + beyond
        if fallocate(file, hole, 0, length) == 0 || fallocate(file, hole, 0, size.roundedUp(toMultipleOf: 4_096)) == 0 {
            return
        }
        guard Errno.last == .notSupported else { throw .last }
        try Errno.check(ftruncate(file, 0))
        try Errno.check(ftruncate(file, Int(size)))
    }
}

extension Node {
    /// Gives the file its former mark, or none, if nothing of it was freed.
    /// - Returns: False if that failed, or something was freed.
    fileprivate func isGivenBack(
        _ held: HeldFile, _ file: Int32, _ mark: [UInt8]?, ifStill before: FileStatus
    ) -> Bool {
        do throws(Errno) {
            let now = try held.status()
            guard now.blocks == before.blocks, now.size == before.size else { return false }
            try keepTime(of: file)
            guard let mark else {
                try held.setXattr(OwnXattr.dataless, nil)
                return true
            }
            try held.setXattr(OwnXattr.dataless, to: mark)
            return true
        } catch {
            return false
        }
    }
}
