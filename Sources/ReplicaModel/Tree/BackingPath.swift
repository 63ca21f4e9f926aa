internal import CLinux
internal import Glibc
internal import SystemPackage

/// The location of an item's file for system calls: a name in a folder, or the descriptor of a file that lost its name.
struct BackingPath {
    /// An `O_PATH` descriptor, valid under the lock.
    var folder: Int32
    var name: FileName
    /// Whether ``name`` leads through `/proc` to a file without a name.
    var isOrphan = false

    /// Opens the file. A symlink in its place is ELOOP; the call never blocks on a pipe or a lease.
    func open(_ flags: Int32) throws(Errno) -> Int32 {
        let follow = isOrphan ? 0 : O_NOFOLLOW
        do throws(Errno) {
            return try name.withCString { (text) throws(Errno) in
                try Errno.check(openat(folder, text, flags | follow | O_NONBLOCK | O_CLOEXEC))
            }
        } catch {
            guard error == .permissionDenied, flags & CL_O_PATH == 0, geteuid() != 0 else { throw error }
            return try hold { (file) throws(Errno) in try file.open(flags) }
        }
    }

    /// The target of the symlink here.
    func target() throws(Errno) -> [UInt8] {
        try name.withCString { (text) throws(Errno) in
            var result: Swift.Result<[UInt8], Errno> = .failure(.ioError)
            withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
                let length = readlinkat(folder, text, buffer.baseAddress!, buffer.count)
                result =
                    length < 0
                    ? .failure(.last) : .success(buffer.prefix(length).map { UInt8(bitPattern: $0) })
            }
            return try result.get()
        }
    }

    func status() throws(Errno) -> FileStatus {
        guard isOrphan else { return try FileStatus(name, in: folder) }
        return try hold { (file) throws(Errno) in try file.status() }
    }
}

extension Node {
    /// What has to be sent of a file that is found in the place of the known one; nothing if it is the known one.
    func fieldsOfReplacement(_ found: FileFingerprint) -> ItemFields {
        let isKnown = fingerprint.inode == 0 || found.isSameFile(as: fingerprint)
        return isKnown ? [] : .ofNew(.file).subtracting(.place)
    }
}

extension Tree {
    /// Where the node's file is.
    func place(of node: Node) throws(ReplicaError) -> BackingPath {
        if node === root { return BackingPath(folder: root.descriptor, name: FileName(".")) }
        guard let parent = node.parent, !node.isDeleted else {
            guard node.descriptor >= 0 else { throw .errno(.stale) }
            return BackingPath(folder: AT_FDCWD, name: FileName("\(CL_DESCRIPTORS)\(node.descriptor)"), isOrphan: true)
        }
        return BackingPath(folder: try descriptor(of: parent), name: node.name)
    }

    /// A node's attributes as stat(2) returns them, and whether the kernel may cache them.
    func entry(of node: Node) throws(ReplicaError) -> KernelEntry {
        let place = try place(of: node)
        let status = try errnos { () throws(Errno) in
            let status = try place.status()
            try node.demandKind(of: status)
            return status
        }
        let known = try noteKernelFile(status, as: node)
        noticeForeignWrite(node, status)
        return entry(of: node, known, status)
    }

    /// Detects writes by programs that have had the file open since before the import, or that write below the mount.
    private func noticeForeignWrite(_ node: Node, _ status: FileStatus) {
        guard node.kind == .file, node.writers == 0, node.materialization == .whole, scan == nil,
            FileFingerprint(status).hasOtherBytes(than: node.fingerprint)
        else { return }
        noteContent(FileFingerprint(status), of: node)
    }

    /// Takes over a file's new content: it has to be sent. Of another file that has taken the name, everything has to be: the
    /// store's metadata are those of the former one, and would be applied to this one.
    func noteContent(_ fingerprint: FileFingerprint, of node: Node) {
        let replaced = node.fieldsOfReplacement(fingerprint)
        // The other names of the former file keep it.
        if !replaced.isEmpty {
            separate(node)
            // Its writers are those of the former file.
            node.hasSyncedWriter = false
            (node.syncedSize, node.syncedSinceSent) = (nil, nil)
        }
        for name in items.names(of: node) {
            name.fingerprint = fingerprint
            edit(name, replaced.union([.contents, .modificationDate]))
        }
    }

    func entry(of node: Node, _ status: FileStatus) -> KernelEntry {
        // To the kernel all names of a file are one inode; one of the nodes has its state.
        entry(of: node, items.holder(of: node), status)
    }

    private func entry(of node: Node, _ known: Node, _ status: FileStatus) -> KernelEntry {
        var status = status
        status.inode = node.inodeNumber.rawValue
        status.changed = Timestamp(nanoseconds: node.shownChangeTime(status.changed.nanoseconds))
        // Arriving bytes change the placeholder's own times.
        if node.kind == .file, node.materialization != .whole {
            status.modified = Timestamp(nanoseconds: node.fingerprint.modified)
            // Programs take a file without blocks for one that has only holes, and don't read it (tar --sparse).
            if status.size > 0 { status.blocks = max(status.blocks, 1) }
        }
        maskMode(&status, of: node)
        return KernelEntry(
            number: node.inodeNumber, generation: known.generation, status: status, isSteady: known.writers == 0)
    }

    /// The path below the root, for users and for calls through the mount.
    func path(of node: Node) -> [FileName] {
        var names: [FileName] = []
        var here = node
        while let parent = here.parent {
            names.append(here.name)
            here = parent
        }
        return names.reversed()
    }
}

extension Node {
    /// Throws if the backing file can't be the item's. If it was replaced directly in the backing tree, the kernel
    /// would follow a symlink although the item is a file.
    func demandKind(of status: FileStatus) throws(Errno) {
        guard status.kind == (flags.contains(.special) ? nil : kind) else { throw Errno.stale }
    }
}

/// Turns the errno of a system call into a replica error.
@discardableResult
func errnos<Result>(_ body: () throws(Errno) -> Result) throws(ReplicaError) -> Result {
    do throws(Errno) {
        return try body()
    } catch {
        throw .errno(error)
    }
}
