internal import CLinux
internal import Glibc
internal import SystemPackage

/// Files without a name (`O_TMPFILE` of open(2)). They are not items: they are neither recorded nor sent, and disappear with
/// their last descriptor, also after a crash. link(2) makes one an item.
extension Replica {
    /// open(2) with `O_TMPFILE`: a file without a folder.
    /// - Returns: A descriptor that the caller owns; it has to call ``closed(_:isWriter:)``.
    /// - Throws: EOPNOTSUPP if the filesystem does not support unnamed files.
    package func createUnnamed(
        in parent: some ItemReference, mode: UInt16, flags: Int32, caller: Caller
    ) throws(ReplicaError) -> (KernelEntry, OpenFile) {
        try withTreeWaking { (tree) throws(ReplicaError) in
            let folder = try tree.folder(parent)
            guard !folder.isDeleted else { throw .errno(.noSuchFileOrDirectory) }
            try tree.demand(.writing, of: folder, else: .permissionDenied)
            let below = try tree.descriptor(of: folder)
            let masked = UInt32(tree.hasDefaultACL(folder, below) ? mode : mode & ~caller.umask)
            let kept = flags & (Self.keptOfNew | O_EXCL)
            let descriptor = try errnos { () throws(Errno) in
                try Errno.check(openat(below, ".", kept | CL_O_TMPFILE | O_CLOEXEC, masked))
            }
            do throws(ReplicaError) {
                let file = HeldFile(descriptor: descriptor)
                let (status, held) = try errnos { () throws(Errno) in
                    (try Ownership.give(file, in: below, to: caller), try file.open(CL_O_PATH))
                }
                let isWriter = flags & O_ACCMODE != O_RDONLY
                let node = tree.makeUnnamed(status, held: held, isWriter: isWriter)
                let opened = OpenFile(
                    descriptor: descriptor, isWriter: isWriter, generation: 0, placeholder: nil,
                    hasSetID: status.hasSetID, size: 0)
                return (tree.entry(of: node, status), opened)
            } catch {
                Glibc.close(descriptor)
                throw error
            }
        }
    }
}

extension Tree {
    /// A node for a file without a name, as one that lost its name has while it is open.
    fileprivate func makeUnnamed(_ status: FileStatus, held: Int32, isWriter: Bool) -> Node {
        let node = Node(number: items.numbers.take(), parent: nil, name: FileName(""), kind: .file)
        node.fingerprint = FileFingerprint(status)
        node.kernelFile = FileIdentity(status)
        node.descriptor = held
        node.lacksCapability = true
        node.lookups = 1
        node.opens = 1
        items.insertUnnamed(node)
        if isWriter { addWriter(node) }
        return node
    }

    /// Whether the node's file was created without a name and has none yet. A file that lost its last name can't get
    /// another: the kernel refuses that.
    func isUnnamed(_ node: Node) -> Bool {
        node.parent == nil && !node.isDeleted && node !== root && items[node.number] == nil
    }

    /// Makes an unnamed file an item: its backing file has a name now.
    func adopt(_ node: Node, as name: FileName, in folder: Node) {
        node.parent = folder
        node.name = name
        folder.children?[name] = node
        insert(node)
        closeDescriptor(of: node)
    }
}
