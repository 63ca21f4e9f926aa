internal import CLinux
internal import Glibc
internal import SystemPackage

extension Replica {
    /// ioctl(2) with a ``FlagRequest``. Flags stay local. A file must be completely local before it becomes immutable
    /// or append-only, because it can't be filled later.
    /// - Parameters:
    ///   - given: The value to set, in the kernel's form.
    ///   - isRoot: Whether the caller is root.
    /// - Returns: The value, in the kernel's form; nothing for a change.
    /// - Throws: ENOTTY if the filesystem has no flags; EOPNOTSUPP if the root would become immutable.
    package func flags(
        _ request: FlagRequest, _ given: [UInt8], of item: some ItemReference, isRoot: Bool
    ) throws(ReplicaError) -> [UInt8] {
        try withTreeWaking { (tree) throws(ReplicaError) in
            let node = try tree.node(item)
            if request.isChange { try tree.demandFlags(FileFlags(request, given), of: node) }
            let file = try tree.openKernelFile(node, O_RDONLY)
            defer { Glibc.close(file) }
            guard request.isChange else {
                return try errnos { () throws(Errno) in try FileFlags.value(request, of: file) }
            }
            tree.settle(node)
            try errnos { () throws(Errno) in try FileFlags.set(request, given, of: file, isRoot: isRoot) }
            for name in tree.items.names(of: node) {
                tree.refreshFingerprint(name)
                tree.note(name)
            }
            return []
        }
    }
}

extension Tree {
    fileprivate func demandFlags(_ flags: FileFlags, of node: Node) throws(ReplicaError) {
        try demand(.writing, of: node, else: .notPermitted)
        guard flags.freezes else { return }
        // The number of each run is written to an attribute of the root.
        guard node !== root else { throw .errno(.notSupported) }
        try demandCertainty(of: node)
        guard node.materialization != .whole else { return }
        throw node.kind == .folder ? .needsListing(node.inodeNumber) : .needsContent(node.inodeNumber)
    }

    /// Makes sure that the node's file can be replaced: an immutable one can't, and the new content would be fetched in
    /// vain.
    func demandReplaceable(_ node: Node) throws(ReplicaError) {
        let place = try place(of: node)
        let isFrozen = try errnos { () throws(Errno) in
            try place.hold { (file) throws(Errno) in file.flags?.freezes ?? false }
        }
        if isFrozen { throw .errno(.notPermitted) }
    }
}

extension HeldFile {
    /// Nil if the filesystem has none, or the file may not be read.
    var flags: FileFlags? {
        let file = Glibc.open("\(CL_DESCRIPTORS)\(descriptor)", O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return (try? FileFlags.value(.flags, of: file)).map { FileFlags(.flags, $0) }
    }

    /// Copies the flags that the owner set on the replaced file to the new one: chattr(1)'s A, S and d.
    func takeFlags(of former: HeldFile) throws(Errno) {
        let kept = (former.flags?.bits ?? 0) & (CL_FS_NOATIME_FL | CL_FS_SYNC_FL | CL_FS_NODUMP_FL)
        guard kept != 0, let own = flags else { return }
        let file = try open(O_RDONLY)
        defer { close(file) }
        let value = withUnsafeBytes(of: own.bits | kept) { Array($0) }
        try FileFlags.set(.setFlags, value, of: file, isRoot: true)
    }
}

extension FileFlags {
    /// The flags of an open file, in the kernel's form.
    fileprivate static func value(_ request: FlagRequest, of file: Int32) throws(Errno) -> [UInt8] {
        var value = [UInt8](repeating: 0, count: request.size)
        try Errno.check(ioctl(file, UInt(request.number), &value))
        return value
    }

    fileprivate static func set(
        _ request: FlagRequest, _ given: [UInt8], of file: Int32, isRoot: Bool
    ) throws(Errno) {
        guard given.count >= request.size else { throw .invalidArgument }
        if request == .setFlags, !isRoot {
            let now = FileFlags(.flags, try value(.flags, of: file))
            guard now.mayBecome(FileFlags(request, given)) else { throw .notPermitted }
        }
        var value = given
        try Errno.check(ioctl(file, UInt(request.number), &value))
    }
}
