internal import CLinux
internal import Glibc
internal import SystemPackage

/// What a scan makes of files after a power cut: no difference is an edit, unless a program has synced it.
extension Tree {
    /// Compares a file with what was recorded of it.
    /// - Returns: What it is from now on, below.
    func findAfterPowerCut(_ node: Node, _ line: FolderListing.Line, in folder: Node) -> FileFingerprint {
        let fingerprint = FileFingerprint(line.status)
        // Whoever had it open is gone with the power.
        node.flags.remove(.writing)
        items.writing[node.number] = nil
        let isDurable = !node.flags.contains(.doubtful)
        if fingerprint.mode != node.fingerprint.mode, isDurable, node.base != nil {
            edit(node, [.mode, .untoldByStatus])
        }
        if fingerprint != node.fingerprint { distrustMetadata(of: node) }
        guard !line.isDataless else { return findPlaceholder(node, line, in: folder) }
        let found = finding(FileAfterPowerCut(node, fingerprint, isDurable: isDurable, scan.mode))
        node.materialization = .whole
        node.ranges = RangeSet64()
        switch found {
        case .asRecorded: node.flags.remove(.doubtful)
        case .edited:
            node.flags.remove(.doubtful)
            edit(node, ItemFields.ofNew(.file).subtracting(.place))
        case .new:
            node.flags.formUnion([.doubtful, .mayAlreadyExist])
            if fingerprint != node.fingerprint { edit(node, ItemFields.ofNew(.file).subtracting(.place)) }
        case .lost:
            if let placeholder = makePlaceholder(of: node, line, in: folder) { return placeholder }
            node.flags.insert(.doubtful)
            node.dirty.remove(.contents)
        case .doubtful(let isEdited):
            node.flags.insert(.doubtful)
            if !isEdited { node.dirty.remove(.contents) }
        }
        return fingerprint
    }

    /// Has the store's attributes taken over, where none were changed here that it does not have: what was sent may be lost
    /// here.
    func distrustMetadata(of node: Node) {
        guard var base = node.base, base.version.metadata != "" else { return }
        base.version.metadata = ""
        setBase(base, of: node)
        // The store tells of it again then.
        node.flags.insert(.doubtful)
    }

    /// A placeholder is as it was recorded, whatever the power cut made of it: it stands for what the store has.
    private func findPlaceholder(_ node: Node, _ line: FolderListing.Line, in folder: Node) -> FileFingerprint {
        let fingerprint = FileFingerprint(line.status)
        node.materialization = .dataless
        node.ranges = RangeSet64()
        guard let base = node.base, node.fingerprint.isSameFile(as: fingerprint) else { return fingerprint }
        let isCut = node.dirty.contains(.contents) && node.fingerprint.size == fingerprint.size
        guard !isCut, fingerprint.size != base.size else { return fingerprint }
        return makePlaceholder(of: node, line, in: folder) ?? fingerprint
    }

    /// Makes a file one that stands for what the store has.
    /// - Returns: Nil when it cannot be one.
    func makePlaceholder(of node: Node, _ line: FolderListing.Line, in folder: Node) -> FileFingerprint? {
        guard let base = node.base, line.status.links == 1 else { return nil }
        do throws(ReplicaError) {
            let place = BackingPath(folder: try descriptor(of: folder), name: line.name)
            let status = try errnos { () throws(Errno) in
                try place.setXattr(OwnXattr.dataless, to: mark.whileEvicting)
                let file = try place.open(O_WRONLY)
                defer { close(file) }
                try Errno.check(ftruncate(file, Int(base.size)))
                try node.keepTime(of: file)
                try place.setXattr(OwnXattr.dataless, to: mark.value)
                return try FileStatus(descriptor: file)
            }
            node.materialization = .dataless
            node.ranges = RangeSet64()
            node.dirty.remove(.contents)
            return FileFingerprint(status)
        } catch {
            return nil  // It is compared with what the store has.
        }
    }
}

extension FileAfterPowerCut {
    /// - Parameter stamp: What is below.
    fileprivate init(_ node: Node, _ fingerprint: FileFingerprint, isDurable: Bool, _ scan: ScanMode) {
        self.isDurable = isDurable
        hasBase = node.base != nil
        size = fingerprint.size
        sizeInStore = node.base?.size ?? 0
        isAsRecorded = node.fingerprint == fingerprint
        isEdited = node.dirty.contains(.contents)
        syncedSize = node.syncedSize
        isOfRecordedTree = scan == .afterPowerCut
        isFetched = node.materialization != .whole && !fingerprint.hasOtherContent(than: node.fingerprint)
    }
}
