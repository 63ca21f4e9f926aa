internal import CLinux
internal import Glibc
internal import SystemPackage

extension Replica {
    /// mkdir(2).
    package func makeFolder(
        _ name: FileName, in parent: some ItemReference, mode: UInt16, caller: Caller
    ) throws(ReplicaError) -> KernelEntry {
        try create(name, in: parent, .folder, caller) { (folder, masked) throws(Errno) in
            try Ownership.make(name, in: folder, for: caller) { (text) throws(Errno) in
                try Errno.check(mkdirat(folder, text, UInt32(masked(mode))))
            }
        }
    }

    /// symlink(2).
    package func makeSymlink(
        _ name: FileName, in parent: some ItemReference, target: [UInt8], caller: Caller
    ) throws(ReplicaError) -> KernelEntry {
        try create(name, in: parent, .symlink, caller) { (folder, _) throws(Errno) in
            try Ownership.make(name, in: folder, for: caller) { (text) throws(Errno) in
                try FileName(bytes: target).withCString { (target) throws(Errno) in
                    try Errno.check(symlinkat(target, folder, text))
                }
            }
        }
    }

    /// mknod(2): a file, or a device, socket or fifo, which stays local (MODEL.md#decisions).
    package func makeNode(
        _ name: FileName, in parent: some ItemReference, mode: UInt32, device: UInt64, caller: Caller
    ) throws(ReplicaError) -> KernelEntry {
        let type = mode & UInt32(S_IFMT)
        let isFile = type == UInt32(S_IFREG) || type == 0
        return try create(name, in: parent, .file, caller, isSpecial: !isFile) { (folder, masked) throws(Errno) in
            let mode = UInt32(masked(UInt16(mode & 0o7777)))
            guard !isFile else {
                let file = try name.openNew(in: folder, O_RDONLY, mode)
                defer { Glibc.close(file) }
                return try Ownership.give(HeldFile(descriptor: file), in: folder, to: caller)
            }
            return try Ownership.make(name, in: folder, for: caller) { (text) throws(Errno) in
                try Errno.check(mknodat(folder, text, type | mode, UInt(device)))
            }
        }
    }

    /// open(2) with `O_CREAT` for a name that does not exist.
    /// - Returns: A descriptor that the caller owns; it has to call ``closed(_:isWriter:)``.
    package func createFile(
        _ name: FileName, in parent: some ItemReference, mode: UInt16, flags: Int32, caller: Caller
    ) throws(ReplicaError) -> (KernelEntry, OpenFile) {
        var descriptor: Int32 = -1
        let isWriter = flags & O_ACCMODE != O_RDONLY
        do throws(ReplicaError) {
            let entry = try create(name, in: parent, .file, caller, opening: isWriter) {
                (folder, masked) throws(Errno) in
                descriptor = try name.openNew(in: folder, flags & Self.keptOfNew, UInt32(masked(mode)))
                return try Ownership.give(HeldFile(descriptor: descriptor), in: folder, to: caller)
            }
            if isWriter, flags & (O_SYNC | O_DSYNC) != 0 {
                withTree { tree in
                    if let node = tree.items[inode: entry.number] { tree.expectSyncedWrites(of: node) }
                }
            }
            let file = OpenFile(
                descriptor: descriptor, isWriter: isWriter, generation: 0, placeholder: nil,
                hasSetID: entry.status.hasSetID, size: 0)
            return (entry, file)
        } catch {
            if descriptor >= 0 { Glibc.close(descriptor) }
            throw error
        }
    }

    /// The flags of open(2) that apply to the backing file too.
    static let keptOfNew = O_ACCMODE | O_APPEND | CL_O_DIRECT | O_SYNC | O_DSYNC

    /// Creates an entry by the system call in `make`, and the item for it.
    /// - Parameter make: Creates the entry, gives it to the caller and returns it.
    private func create(
        _ name: FileName, in parent: some ItemReference, _ kind: ItemKind, _ caller: Caller, isSpecial: Bool = false,
        opening isWriter: Bool? = nil, _ make: (Int32, (UInt16) -> UInt16) throws(Errno) -> FileStatus
    ) throws(ReplicaError) -> KernelEntry {
        try withTreeWaking { (tree) throws(ReplicaError) in
            let folder = try tree.listed(parent)
            try tree.vacant(name, in: folder)
            try tree.demand(.writing, of: folder, else: .permissionDenied)
            let below = try tree.descriptor(of: folder)
            let ignoresUmask = tree.hasDefaultACL(folder, below)
            let status = try errnos { () throws(Errno) in
                try make(below) { ignoresUmask ? $0 : $0 & ~caller.umask }
            }
            let node = tree.addNode(in: folder, name: name, kind: kind)
            node.fingerprint = FileFingerprint(status)
            node.kernelFile = FileIdentity(status)
            if isSpecial { node.flags.insert(.special) }
            node.lacksCapability = true
            node.lookups += 1
            if let isWriter {
                node.opens += 1
                if isWriter { tree.addWriter(node) }
            }
            tree.edit(node, ItemFields.ofNew(kind))
            return tree.entry(of: node, status)
        }
    }
}

extension ItemFields {
    /// The initial state of a new item of this kind.
    static func ofNew(_ kind: ItemKind) -> ItemFields {
        switch kind {
        case .file: [.contents, .place, .mode, .modificationDate, .unobservable]
        case .folder: [.place, .mode, .modificationDate, .unobservable]
        case .symlink: [.place, .modificationDate]
        }
    }
}

extension Tree {
    /// Whether new entries of the folder get their mode from an ACL instead of the umask (acl(5)).
    func hasDefaultACL(_ folder: Node, _ descriptor: Int32) -> Bool {
        if let known = folder.hasDefaultACL { return known }
        let has = getxattr("\(CL_DESCRIPTORS)\(descriptor)", "system.posix_acl_default", nil, 0) > 0
        folder.hasDefaultACL = has
        return has
    }
}

extension FileName {
    /// Creates a file.
    /// - Returns: Its descriptor.
    fileprivate func openNew(in folder: Int32, _ flags: Int32, _ mode: UInt32) throws(Errno) -> Int32 {
        try withCString { (text) throws(Errno) in
            try Errno.check(openat(folder, text, flags | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode))
        }
    }
}
