internal import CLinux
internal import Glibc
internal import SystemPackage

/// Moves the files to be kept out of a tree that is being removed. Nothing else uses the replica. An interrupted removal
/// continues with the same target.
struct Preservation {
    let replica: Replica
    let keep: RemovalKeep

    /// - Throws: The database's error.
    init(of keep: RemovalKeep, in replica: Replica) throws {
        self.replica = replica
        // What the store may not have counts as not sent.
        let isInDoubt = try replica.database.read { try Meta.storeInDoubt.read(from: $0) } != nil
        self.keep = keep == .dirty && isInDoubt ? .downloaded : keep
    }

    /// Moves the files to be kept from a folder into another one.
    func move(_ folder: ItemNumber, into target: Int32) throws {
        let entries = try replica.withTreeWaking { (tree) throws(ReplicaError) -> [Entry] in
            guard let node = try tree.find(folder), node.materialization == .whole else { return [] }
            let below = HeldFile(descriptor: try tree.descriptor(of: node))
            try errnos { () throws(Errno) in try allowMoving(below) }
            return try tree.children(of: node).values.sorted { $0.name < $1.name }.map { entry($0) }
        }
        for entry in entries {
            if entry.kind == .folder {
                try moveFolder(entry, in: folder, into: target)
            } else if try entry.isKept || entry.isHere && replica.isDeletedInStore(entry.number) {
                try keep(try place(of: entry.name, in: folder), in: target)
            }
        }
    }

    private func keep(_ place: BackingPath, in target: Int32) throws(Errno) {
        do throws(Errno) { try place.move(into: target, as: place.name) } catch {
            // An earlier attempt has moved it.
            if error != .noSuchFileOrDirectory { throw error }
        }
    }

    /// Moving entries out of a folder requires write permission.
    private func allowMoving(_ folder: HeldFile) throws(Errno) {
        let mode = UInt32(try folder.status().permissions)
        if mode & 0o300 != 0o300 { try folder.setMode(mode | 0o700) }
    }

    private struct Entry {
        var number: ItemNumber
        var name: FileName
        var kind: ItemKind
        var isHere: Bool
        var isKept: Bool
    }

    private func entry(_ node: Node) -> Entry {
        let isHere = node.materialization == .whole
        let isUnsent =
            node.isNew || !node.dirty.isEmpty || !node.flags.isDisjoint(with: [.special, .excluded, .refused])
        let isKept = isHere && (keep == .downloaded || isUnsent)
        return Entry(number: node.number, name: node.name, kind: node.kind, isHere: isHere, isKept: isKept)
    }

    /// Creates the folder again and moves the files to be kept into it; it is removed if there are none and the store has it.
    private func moveFolder(_ entry: Entry, in folder: ItemNumber, into target: Int32) throws {
        let status = try place(of: entry.name, in: folder).status()
        let made = try makeFolder(entry.name, in: target)
        defer { close(made) }
        try move(entry.number, into: made)
        let isEmpty = try BackingFolderListing(of: made, mark: nil).lines.isEmpty
        if isEmpty, !entry.isKept {
            return try entry.name.withCString { (text) throws(Errno) in
                try Errno.check(unlinkat(target, text, AT_REMOVEDIR))
            }
        }
        let kept = HeldFile(descriptor: made)
        try copyXattrs(of: place(of: entry.name, in: folder), to: kept)
        try kept.setMode(UInt32(status.permissions))
        try kept.setTimes(accessed: status.accessed.timespec, modified: status.modified.timespec)
    }

    /// Copies tags, ACLs and the like as far as that is possible: files are not left behind for them.
    private func copyXattrs(of place: BackingPath, to folder: HeldFile) throws(Errno) {
        try place.hold { (former) throws(Errno) in
            for name in try former.xattrNames() where !OwnXattr.isHidden(name) {
                do throws(Errno) {
                    try folder.setXattr(name, to: try former.xattr(name))
                } catch {
                    if error == .ioError { throw error }
                }
            }
        }
    }

    /// A folder with this name, or the one that an earlier attempt created.
    private func makeFolder(_ name: FileName, in target: Int32) throws(Errno) -> Int32 {
        try name.withCString { (text) throws(Errno) -> Int32 in
            let isThere = mkdirat(target, text, 0o700) != 0
            guard !isThere || Errno.last == .fileExists else { throw .last }
            let made = try Errno.check(openat(target, text, CL_O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC))
            guard isThere else { return made }
            do throws(Errno) { try HeldFile(descriptor: made).setMode(0o700) } catch {
                close(made)
                throw error
            }
            return made
        }
    }

    private func place(of name: FileName, in folder: ItemNumber) throws(ReplicaError) -> BackingPath {
        try replica.withTreeWaking { (tree) throws(ReplicaError) in
            guard let node = try tree.find(folder) else { throw .errno(.noSuchFileOrDirectory) }
            return BackingPath(folder: try tree.descriptor(of: node), name: name)
        }
    }
}
