internal import CLinux
internal import Glibc
internal import SystemPackage

extension Tree {
    /// Moves a node's file out of the tree, to where it can be given back from. What is open stays reachable.
    func setAside(_ node: Node, _ folders: StateFolders) throws(Obstacle) {
        let row = ItemRow(node)
        try keepReachable(node)
        let place = try place(of: node)
        try errnos { () throws(Errno) in
            if node.kind == .folder { try demandEmpty(place) }
            let deleted = try folders.openDeleted()
            defer { close(deleted) }
            let name = FileName(row.asideName)
            // Only a power cut could have left one.
            _ = name.withCString { unlinkat(deleted, $0, 0) }
            try place.move(to: Place(folder: deleted, name: name))
        }
        aside.append(row)
    }

    private func demandEmpty(_ place: Place) throws(Errno) {
        let folder = try place.open(CL_O_PATH | O_DIRECTORY)
        defer { close(folder) }
        guard try FolderListing(of: folder, mark: nil).lines.isEmpty else { throw .directoryNotEmpty }
    }
}

extension ItemRow {
    /// What its file is called while it is set aside.
    var asideName: String { String(number) }
}

extension StateFolders {
    /// An `O_PATH` descriptor of ``deleted``.
    func openDeleted() throws(Errno) -> Int32 {
        try Errno.check(deleted.withPlatformString { open($0, CL_O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) })
    }

    /// Empties ``deleted``.
    func discardDeleted() throws(Errno) {
        let folder = try openDeleted()
        defer { close(folder) }
        for line in try FolderListing(of: folder, mark: nil).lines {
            let flags = line.status.kind == .folder ? AT_REMOVEDIR : 0
            try line.name.withCString { (name) throws(Errno) in try Errno.check(unlinkat(folder, name, flags)) }
        }
    }
}

extension Place {
    /// rename(2), never over what is there. Nothing else makes names in the two folders meanwhile.
    func move(to other: Place) throws(Errno) {
        try name.withCString { (old) throws(Errno) in
            try other.name.withCString { (new) throws(Errno) in
                if faccessat(other.folder, new, F_OK, AT_SYMLINK_NOFOLLOW) == 0 { throw .fileExists }
                if renameat(folder, old, other.folder, new) == 0 { return }
                guard Errno.last == .permissionDenied else { throw .last }
                // A folder that its owner may not write cannot be moved by them.
                try hold { (file) throws(Errno) in
                    let mode = UInt32(try file.status().permissions)
                    try file.setMode(0o700)
                    let moved = renameat(folder, old, other.folder, new)
                    let failure = Errno.last
                    try file.setMode(mode)
                    if moved != 0 { throw failure }
                }
            }
        }
    }
}
