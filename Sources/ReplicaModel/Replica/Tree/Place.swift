internal import CLinux
internal import Glibc
internal import SystemPackage

/// Where system calls find an item's file: a name in a folder, or the descriptor of what lost its name.
struct Place {
    /// An `O_PATH` descriptor, valid under the lock.
    var folder: Int32
    var name: FileName
    /// Whether ``name`` leads through `/proc` to a file without a name.
    var isOrphan = false

    /// For calls that take `AT_SYMLINK_NOFOLLOW`.
    var noFollow: Int32 { isOrphan ? 0 : AT_SYMLINK_NOFOLLOW }

    /// A path for calls that know no folder descriptors (the xattr calls); their `l` forms are to be used.
    var path: String {
        isOrphan
            ? String(decoding: name.bytes, as: UTF8.self)
            : "/proc/self/fd/\(folder)/"
    }

    /// Calls `body` with a path through `/proc` whose last part is the name.
    func withPath<Result>(_ body: (UnsafePointer<CChar>) throws(Errno) -> Result) throws(Errno) -> Result {
        guard !isOrphan else { return try name.withCString(body) }
        return try FileName(bytes: Array(path.utf8) + name.bytes).withCString(body)
    }

    /// Opens the file; a symlink in its place is ELOOP.
    func open(_ flags: Int32, mode: UInt32 = 0) throws(Errno) -> Int32 {
        let follow = isOrphan ? 0 : O_NOFOLLOW
        return try name.withCString { (text) throws(Errno) in
            try Errno.check(openat(folder, text, flags | follow | O_CLOEXEC, mode))
        }
    }

    /// What the symlink here points to.
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
        let file = try open(CL_O_PATH)
        defer { close(file) }
        return try FileStatus(descriptor: file)
    }
}

extension Tree {
    /// Where the node's file is.
    func place(of node: Node) throws(Obstacle) -> Place {
        if node === root { return Place(folder: root.descriptor, name: FileName(".")) }
        guard let parent = node.parent, !node.isDeleted else {
            guard node.descriptor >= 0 else { throw .errno(Errno(rawValue: ESTALE)) }
            return Place(folder: AT_FDCWD, name: FileName("/proc/self/fd/\(node.descriptor)"), isOrphan: true)
        }
        return Place(folder: try descriptor(of: parent), name: node.name)
    }

    /// What stat(2) says of the node, and what the kernel may do with it.
    func entry(of node: Node) throws(Obstacle) -> Entry {
        let place = try place(of: node)
        let status = try errnos { () throws(Errno) in try place.status() }
        noticeForeignWrite(node, status)
        return entry(of: node, status)
    }

    /// Whoever still has a file open from before the import, or writes below the mount, is noticed at the next look.
    private func noticeForeignWrite(_ node: Node, _ status: FileStatus) {
        guard node.kind == .file, node.writers == 0, node.materialization == .whole, scan == .none,
            node.stamp.inode == status.inode, Stamp(status).hasOtherContent(than: node.stamp)
        else { return }
        for name in names(of: node) {
            name.stamp = Stamp(status)
            edit(name, [.contents, .modificationDate])
        }
    }

    func entry(of node: Node, _ status: FileStatus) -> Entry {
        var status = status
        status.inode = node.shown.rawValue
        // Bytes that are just coming change the placeholder's own.
        if node.kind == .file, node.materialization != .whole {
            status.modified = Timestamp(nanoseconds: node.stamp.modified)
        }
        maskMode(&status, of: node)
        // All names of a file are one inode to the kernel; its state is with the one that it asks for.
        let known = shown[node.shown] ?? node
        return Entry(number: node.shown, generation: known.generation, status: status, isSteady: known.writers == 0)
    }

    /// The path below the root, for people and for calls through the mount.
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

/// Turns the errno of a system call into an obstacle.
@discardableResult
func errnos<Result>(_ body: () throws(Errno) -> Result) throws(Obstacle) -> Result {
    do throws(Errno) {
        return try body()
    } catch {
        throw .errno(error)
    }
}
