internal import CLinux
internal import Glibc
internal import SystemPackage

extension Replica {
    /// Creates an item of the store in the tree: a file without its content, a folder without its listing, or a
    /// symlink.
    /// - Parameter asked: ``Incoming/asked``.
    /// - Returns: False if the item became known meanwhile, by a listing or an answer.
    func create(_ item: Item, in parent: ItemNumber, asked: UInt64) throws(ReplicaError) -> Bool {
        let (above, name, isSeen) = try withTreeWaking { (tree) throws(ReplicaError) in
            guard let folder = try tree.find(parent) else { throw .errno(.noSuchFileOrDirectory) }
            try tree.children(of: folder)
            return (tree.presented(folder), tree.nameHere(of: item, as: nil, in: folder), folder.lookups > 0)
        }
        let call = PresentedCall.make(item.kind, name, in: above)
        do throws(ReplicaError) {
            try present(call, isSeen: isSeen) { (tree) throws(ReplicaError) in
                guard let folder = tree.items[parent] else { throw .errno(.noSuchFileOrDirectory) }
                guard try !tree.isKnown(item, since: asked) else { throw .errno(.resourceBusy) }
                try tree.children(of: folder)
                try tree.vacant(name, in: folder)
                return try tree.make(item, as: name, in: folder)
            }
        } catch {
            guard error.errno == .resourceBusy,
                try withTreeWaking({ (tree) throws(ReplicaError) in try tree.isKnown(item, since: asked) })
            else { throw error }
            return false
        }
        return true
    }
}

extension Tree {
    /// Whether a node has the item, or had it after the store was asked.
    fileprivate func isKnown(_ item: Item, since asked: UInt64) throws(ReplicaError) -> Bool {
        try find(item.identifier) != nil || store.answers.isStale(item.identifier, asked: asked)
    }

    /// Creates the file, folder or symlink of an item, and its node. The name must be free.
    @discardableResult
    func make(_ item: Item, as name: FileName, in folder: Node) throws(ReplicaError) -> Node {
        let below = try descriptor(of: folder)
        let moment = try errnos { () throws(Errno) in try NewEntryCheck(of: below) }
        let made = try makeBelow(item, as: name, in: below)
        let status = try errnos { () throws(Errno) in
            try Ownership.inherit(name, in: below, madeAfter: moment, made)
        }
        let former = try formerNumber(of: item.identifier)
        do throws(ReplicaError) {
            return try addMade(item, as: name, in: folder, status, number: former)
        } catch {
            // Otherwise the next attempt would find the item there, without the rest of its metadata.
            if let node = folder.children?[name] { drop(node) }
            removeMade(name, in: below, FileIdentity(status), isFolder: item.kind == .folder)
            throw error
        }
    }

    /// Removes an entry, unless another one has taken its name.
    private func removeMade(_ name: FileName, in folder: Int32, _ made: FileIdentity, isFolder: Bool) {
        do throws(Errno) {
            guard FileIdentity(try BackingPath(folder: folder, name: name).status()) == made else { return }
        } catch {
            return  // It is gone, or can't be told from another one.
        }
        name.withCString { _ = unlinkat(folder, $0, isFolder ? AT_REMOVEDIR : 0) }
    }

    /// Adds the node of an entry that was just created, and gives it the item's metadata.
    private func addMade(
        _ item: Item, as name: FileName, in folder: Node, _ status: FileStatus, number former: ItemNumber?
    ) throws(ReplicaError) -> Node {
        let node = addNode(in: folder, name: name, kind: item.kind, number: former)
        node.fingerprint = FileFingerprint(status)
        setBase(Base(item, parent: folder.number), of: node)
        switch item.kind {
        case .file: node.materialization = item.size > 0 ? .dataless : .whole
        case .folder: node.materialization = .dataless
        case .symlink: node.materialization = .whole
        }
        try applyMetadata(item.metadata, .metadata, to: node)
        refreshFingerprint(node)
        want(node)
        if name != item.filename { sendName(of: node) }
        return node
    }

    /// - Returns: The created file; nil for what was only created under a name.
    private func makeBelow(
        _ item: Item, as filename: FileName, in folder: Int32
    ) throws(ReplicaError) -> FileIdentity? {
        switch item.kind {
        case .file:
            var fingerprint = FileFingerprint()
            fingerprint.modified =
                (item.metadata.modificationDate ?? Timestamp(secondsSince1970: clock.wall())).nanoseconds
            fingerprint.mode = item.metadata.mode ?? 0o644
            return try makePlaceholder(filename, in: folder, size: item.size, fingerprint, isMarked: item.size > 0)
        case .folder:
            try errnos { () throws(Errno) in
                try filename.withCString { (name) throws(Errno) in
                    try Errno.check(mkdirat(folder, name, UInt32(item.metadata.mode ?? 0o755)))
                }
            }
            return nil
        case .symlink:
            try errnos { () throws(Errno) in
                try filename.withCString { (name) throws(Errno) in
                    try FileName(bytes: item.target ?? []).withCString { (target) throws(Errno) in
                        try Errno.check(symlinkat(target, folder, name))
                    }
                }
            }
            return nil
        }
    }

    /// Gives a node's file the store's metadata.
    func applyMetadata(_ metadata: ItemMetadata, _ fields: ItemFields, to node: Node) throws(ReplicaError) {
        let place = try place(of: node)
        try errnos { () throws(Errno) in
            try place.hold { (file) throws(Errno) in
                try node.demandKnown(try file.status())
                if fields.contains(.mode), let mode = metadata.mode, node.kind != .symlink,
                    store.privileges.isChange(mode, of: try file.replicatedMode(try file.status()))
                {
                    try file.setReplicatedMode(mode)
                }
                if node.kind != .symlink { try file.setSyncedXattrs(metadata, fields) }
                if fields.contains(.modificationDate), let date = metadata.modificationDate {
                    try file.setTimes(
                        accessed: timespec(tv_sec: 0, tv_nsec: CL_UTIME_OMIT), modified: date.timespec)
                }
            }
        }
    }
}

extension Ownership {
    /// Gives an entry that the daemon made under a name to the folder's owner. A file is given while the descriptor by
    /// which it was created is open.
    /// - Parameter made: The file that was created.
    /// - Returns: The created entry.
    /// - Throws: ESTALE if another one has the name by now.
    fileprivate static func inherit(
        _ name: FileName, in folder: Int32, madeAfter moment: NewEntryCheck, _ made: FileIdentity?
    ) throws(Errno) -> FileStatus {
        try BackingPath(folder: folder, name: name).hold { (file) throws(Errno) in
            let status = try file.status()
            if let made {
                guard FileIdentity(status) == made else { throw .stale }
                return status
            }
            try moment.demandNew(status)
            try inherit(file, from: folder) { (status) throws(Errno) in try file.demandCreated(status) }
            return try file.status()
        }
    }

    /// Gives a file to the folder's owner.
    /// - Parameter isMeant: Throws if the file is not the one that was made.
    static func inherit(
        _ file: HeldFile, from folder: Int32, if isMeant: (FileStatus) throws(Errno) -> Void = { _ in }
    ) throws(Errno) {
        guard geteuid() == 0 else { return }
        let (above, own) = (try FileStatus(descriptor: folder), try file.status())
        guard above.user != own.user || above.group != own.group else { return }
        try isMeant(own)
        try file.setOwner(above.user, above.group)
    }
}

extension HeldFile {
    /// Sets the replicated attributes to those of the store; nil in `metadata` leaves them unchanged.
    func setSyncedXattrs(_ metadata: ItemMetadata, _ fields: ItemFields) throws(Errno) {
        let kept = metadata.keptFields.intersection(fields)
        guard !kept.isEmpty else { return }
        let cleared = metadata.clearedFields
        for name in try xattrNames() {
            guard let field = OwnXattr.field(of: name), kept.contains(field) else { continue }
            if cleared.contains(field) || metadata.extendedAttributes?[name] == nil && field == .extendedAttributes {
                try put(name, nil)
            }
        }
        let wanted = kept.subtracting(cleared)
        if wanted.contains(.tags), let tags = metadata.tags { try put(OwnXattr.tags, Array(tags.utf8)) }
        if wanted.contains(.lastUsedDate), let date = metadata.lastUsedDate {
            try put(OwnXattr.lastUsed, Array(String(date.nanoseconds).utf8))
        }
        if wanted.contains(.favoriteRank), let rank = metadata.favoriteRank {
            try put(OwnXattr.favorite, Array(String(rank).utf8))
        }
        guard wanted.contains(.extendedAttributes), let values = metadata.extendedAttributes else { return }
        for (name, value) in values where OwnXattr.field(of: name) == .extendedAttributes { try put(name, value) }
    }

    private static let harmless: Set<Errno> = [.noData, .noSpace, .quotaExceeded, .notSupported, .argListTooLong]

    private func put(_ name: String, _ value: [UInt8]?) throws(Errno) {
        do throws(Errno) {
            guard let value else { return try setXattr(name, nil) }
            try setXattr(name, to: value)
        } catch {
            // There is nothing to remove, or the filesystem has no space for the attribute: it stays in the store.
            guard Self.harmless.contains(error) else { throw error }
        }
    }
}
