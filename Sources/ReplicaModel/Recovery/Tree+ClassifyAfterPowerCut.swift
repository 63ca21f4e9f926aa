internal import CLinux
internal import Glibc
internal import SystemPackage

/// Classifies files after a power cut: a difference is not an edit unless a program has synced it.
extension Tree {
    /// Compares a file with its record.
    /// - Returns: The new fingerprint of the backing file.
    func findAfterPowerCut(_ node: Node, _ line: BackingFolderListing.Line, in folder: Node) -> FileFingerprint {
        let fingerprint = FileFingerprint(line.status)
        // No program survived the power cut.
        node.flags.remove(.writing)
        items.writing[node.number] = nil
        let isDurable = !node.flags.contains(.doubtful)
        if fingerprint.mode != node.fingerprint.mode, isDurable, node.base != nil {
            edit(node, [.mode, .unobservable])
        }
        if fingerprint != node.fingerprint { distrustMetadata(of: node) }
        guard !line.isDataless else { return findPlaceholder(node, line, in: folder) }
        let found = finding(FileAfterPowerCut(node, fingerprint, isDurable: isDurable, scan?.mode))
        node.materialization = .whole
        node.ranges = RangeSet64()
        switch found {
        case .asRecorded: node.flags.remove(.doubtful)
        case .edited:
            node.flags.remove(.doubtful)
            let synced = node.syncedSize
            edit(node, ItemFields.ofNew(.file).subtracting(.place))
            node.syncedSize = synced
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

    /// Has the store's attributes applied, except those that were changed here and not uploaded: attributes that were
    /// already uploaded may be lost here.
    func distrustMetadata(of node: Node) {
        guard var base = node.base, base.version.metadata != "" else { return }
        base.version.metadata = ""
        setBase(base, of: node)
        // This makes the engine query the store for the item again.
        node.flags.insert(.doubtful)
    }

    /// Keeps a placeholder as it was recorded, in whatever state the power cut left it, because it stands for the
    /// store's content.
    private func findPlaceholder(_ node: Node, _ line: BackingFolderListing.Line, in folder: Node) -> FileFingerprint {
        let fingerprint = FileFingerprint(line.status)
        node.materialization = .dataless
        node.ranges = RangeSet64()
        guard let base = node.base, node.fingerprint.isSameFile(as: fingerprint) else { return fingerprint }
        let isCut = node.dirty.contains(.contents) && node.fingerprint.size == fingerprint.size
        guard !isCut, fingerprint.size != base.size else { return fingerprint }
        return makePlaceholder(of: node, line, in: folder) ?? fingerprint
    }
}

extension FileAfterPowerCut {
    /// - Parameter fingerprint: That of the backing file.
    fileprivate init(_ node: Node, _ fingerprint: FileFingerprint, isDurable: Bool, _ scan: ScanMode?) {
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
