internal import CLinux
internal import Glibc
internal import SystemPackage

/// Moves what is to be kept out of a tree that is taken away. Nothing else runs on the replica.
struct Preservation {
    let replica: Replica
    let keep: RemovalKeep

    /// Moves what is to be kept of a folder's entries into another.
    /// - Returns: How many files were moved.
    func move(_ folder: ItemNumber, into target: Int32) throws -> Int {
        let entries = try replica.withTreeWaking { (tree) throws(ReplicaError) -> [Entry] in
            guard let node = try tree.find(folder), node.materialization == .whole else { return [] }
            return try tree.children(of: node).values.sorted { $0.name < $1.name }.map { entry($0) }
        }
        var files = 0
        for entry in entries {
            if entry.kind == .folder {
                files += try moveFolder(entry, in: folder, into: target)
            } else if entry.isKept {
                try rename(entry.name, from: folder, into: target)
                files += 1
            }
        }
        return files
    }

    private struct Entry {
        var number: ItemNumber
        var name: FileName
        var kind: ItemKind
        var isKept: Bool
    }

    private func entry(_ node: Node) -> Entry {
        let isHere = node.materialization == .whole
        let isUnsent =
            node.isNew || !node.dirty.isEmpty || !node.flags.isDisjoint(with: [.special, .excluded, .refused])
        let isKept = isHere && (keep == .downloaded || isUnsent)
        return Entry(number: node.number, name: node.name, kind: node.kind, isKept: isKept)
    }

    /// Makes the folder again and moves what is to be kept into it; it goes again when that is nothing and the store
    /// has it.
    private func moveFolder(_ entry: Entry, in folder: ItemNumber, into target: Int32) throws -> Int {
        let status = try place(of: entry.name, in: folder).status()
        let made = try entry.name.withCString { (text) throws(Errno) -> Int32 in
            try Errno.check(mkdirat(target, text, 0o700))
            return try Errno.check(openat(target, text, CL_O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC))
        }
        defer { close(made) }
        let files = try move(entry.number, into: made)
        let isEmpty = try FolderListing(of: made, mark: nil).lines.isEmpty
        try entry.name.withCString { (text) throws(Errno) in
            if isEmpty, !entry.isKept {
                try Errno.check(unlinkat(target, text, AT_REMOVEDIR))
            } else {
                let folder = HeldFile(descriptor: made)
                try folder.setMode(UInt32(status.permissions))
                try folder.setTimes(accessed: status.accessed.timespec, modified: status.modified.timespec)
            }
        }
        return files
    }

    private func rename(_ name: FileName, from folder: ItemNumber, into target: Int32) throws {
        let place = try place(of: name, in: folder)
        try name.withCString { (text) throws(Errno) in
            try Errno.check(renameat(place.folder, text, target, text))
        }
    }

    private func place(of name: FileName, in folder: ItemNumber) throws(ReplicaError) -> BackingPath {
        try replica.withTreeWaking { (tree) throws(ReplicaError) in
            guard let node = try tree.find(folder) else { throw .errno(.noSuchFileOrDirectory) }
            return BackingPath(folder: try tree.descriptor(of: node), name: name)
        }
    }
}
