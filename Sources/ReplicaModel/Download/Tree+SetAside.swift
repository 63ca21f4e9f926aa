internal import CLinux
internal import Glibc
internal import SystemPackage

extension Tree {
    /// Moves a node's file out of the tree, so that it can be restored. Open files stay reachable.
    func setAside(_ node: Node, _ folders: StateFolders) throws(ReplicaError) {
        let row = ItemRow(node)
        try keepReachable(node)
        let place = try place(of: node)
        try errnos { () throws(Errno) in
            let seen = try place.status()
            if node.kind == .folder { try demandEmpty(place) }
            let deleted = try folders.openDeleted()
            defer { close(deleted) }
            let name = FileName(row.asideName)
            // Only a power cut could have left one.
            _ = name.withCString { unlinkat(deleted, $0, 0) }
            let moved = BackingPath(folder: deleted, name: name)
            try place.move(to: moved)
            guard node.kind != .folder, !node.isStill(try moved.status(), seen) else { return }
            // Nothing of the item is left to restore.
            try folders.keep(moved, of: node.number.rawValue, node.name)
        }
        unrecorded.noteAside(row)
    }

    /// Removes a node's file permanently, but not another file that replaced it directly in the backing tree.
    /// - Parameter keepsNewer: Whether its bytes go to `kept/` if a backup of the store may lack them.
    func removeMeant(_ node: Node, _ folders: StateFolders, keepsNewer: Bool) throws(ReplicaError) {
        guard node.kind != .folder else { return try removeBelow(node) }
        try keepReachable(node)
        let place = try place(of: node)
        try errnos { () throws(Errno) in
            let seen = try place.status()
            let staging = try folders.openStaging()
            defer { close(staging) }
            let keptAt = keepsNewer ? keepsBytes(ofDeleted: node, seen) : nil
            let name =
                keptAt == nil
                ? FileName("gone-\(node.number.rawValue)") : StateFolders.newerName(node.number, node.name)
            let moved = BackingPath(folder: staging, name: name)
            _ = moved.name.withCString { unlinkat(staging, $0, 0) }
            try place.move(to: moved)
            try moved.discard(seen, of: node, folders, keptAt: keptAt)
        }
    }

    private func demandEmpty(_ place: BackingPath) throws(Errno) {
        let folder = try place.open(CL_O_PATH | O_DIRECTORY)
        defer { close(folder) }
        guard try BackingFolderListing(of: folder, mark: nil).lines.isEmpty else { throw .directoryNotEmpty }
    }
}

extension Node {
    /// Whether the file that was moved out of the tree is the one that was `seen` in it, and the item's own: another may have
    /// been given its size and times. Only of a placeholder, arriving bytes change the times.
    fileprivate func isStill(_ taken: FileStatus, _ seen: FileStatus) -> Bool {
        let (taken, seen) = (FileFingerprint(taken), FileFingerprint(seen))
        guard taken.isSameFile(as: seen), fingerprint.inode == 0 || taken.isSameFile(as: fingerprint) else {
            return false
        }
        return materialization != .whole || !taken.hasOtherContent(than: seen)
    }
}

extension ItemRow {
    /// The name of its file while it is set aside.
    var asideName: String { String(number) }
}

extension StateFolders {
    /// An `O_PATH` descriptor of ``deleted``.
    func openDeleted() throws(Errno) -> Int32 {
        try Errno.check(deleted.withPlatformString { open($0, CL_O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) })
    }

    /// An `O_PATH` descriptor of ``staging``.
    func openStaging() throws(Errno) -> Int32 {
        try Errno.check(staging.withPlatformString { open($0, CL_O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) })
    }

    /// Empties ``deleted``.
    func discardDeleted() throws(Errno) {
        let folder = try openDeleted()
        defer { close(folder) }
        for line in try BackingFolderListing(of: folder, mark: nil).lines {
            let flags = line.status.kind == .folder ? AT_REMOVEDIR : 0
            try line.name.withCString { (name) throws(Errno) in try Errno.check(unlinkat(folder, name, flags)) }
        }
    }
}

extension BackingPath {
    /// rename(2) that never replaces a file: a process with a descriptor of the folder can create a name in it at any
    /// moment.
    func move(to other: BackingPath) throws(Errno) {
        do throws(Errno) { return try rename(to: other, CL_RENAME_NOREPLACE) } catch {
            guard error == .permissionDenied else { throw error }
        }
        // An owner without write permission for a folder can't move it.
        try hold { (file) throws(Errno) in
            try OwnerPermissions.with(OwnerPermissions.toChangeEntries, of: file.descriptor) { () throws(Errno) in
                try rename(to: other, CL_RENAME_NOREPLACE)
            }
        }
    }

    /// renameat2(2). On a filesystem without support for flags (NFS) the name is checked first.
    private func rename(to other: BackingPath, _ flags: Int32) throws(Errno) {
        try name.withCString { (old) throws(Errno) in
            try other.name.withCString { (new) throws(Errno) in
                if renameat2(folder, old, other.folder, new, UInt32(flags)) == 0 { return }
                guard Errno.last == .invalidArgument, flags == CL_RENAME_NOREPLACE else { throw .last }
                guard faccessat(other.folder, new, F_OK, AT_SYMLINK_NOFOLLOW) != 0 else { throw .fileExists }
                try Errno.check(renameat(folder, old, other.folder, new))
            }
        }
    }

    /// Takes over the name of the item's file that was checked; any other file that has the name by now is moved to
    /// `kept/`.
    /// - Parameter keptAt: The time if the former bytes go to `kept/` too, as far as there is room.
    func replace(
        _ former: BackingPath, _ seen: FileStatus, of node: Node, _ folders: StateFolders, keptAt: Timestamp?
    ) throws(Errno) {
        do throws(Errno) { try rename(to: former, CL_RENAME_EXCHANGE) } catch {
            if error == .noSuchFileOrDirectory { return try move(to: former) }
            guard error == .invalidArgument else { throw error }
            // No exchange on this filesystem.
            guard node.isStill(try former.status(), seen) else { throw .resourceBusy }
            if keptAt != nil { try folders.keepCopy(of: former, of: node.number.rawValue, node.name) }
            return try name.withCString { (old) throws(Errno) in
                try former.name.withCString { (new) throws(Errno) in
                    try Errno.check(renameat(folder, old, former.folder, new))
                }
            }
        }
        do throws(Errno) { try discard(seen, of: node, folders, keptAt: keptAt) } catch {
            try rename(to: former, CL_RENAME_EXCHANGE)
            throw error
        }
    }

    /// Removes a file that was moved out of the tree, if it is the item's file that was checked there; otherwise it was
    /// created directly in the backing tree, and is moved to `kept/`.
    /// - Parameter keptAt: The time if the item's own file goes there too, as far as there is room.
    func discard(
        _ seen: FileStatus, of node: Node, _ folders: StateFolders, keptAt: Timestamp? = nil
    ) throws(Errno) {
        let taken = try status()
        guard node.isStill(taken, seen) else {
            return try folders.keep(self, of: node.number.rawValue, node.name)
        }
        if let keptAt, try folders.keepNewer(self, taken, of: node.number, node.name, now: keptAt) { return }
        try name.withCString { (text) throws(Errno) in try Errno.check(unlinkat(folder, text, 0)) }
    }
}
