internal import CLinux
internal import Glibc
internal import SystemPackage

extension Replica {
    /// chmod, chown, truncate and utimensat(2). None fetches content, except extending a file whose content is not
    /// completely local.
    package func setAttributes(_ change: AttributeChange, of item: some ItemReference) throws(ReplicaError)
        -> KernelEntry
    {
        try withTreeWaking(item.number, cuts: change.size != nil) { (tree) throws(ReplicaError) in
            let node = try tree.node(item)
            try tree.demandChange(change, of: node)
            if let size = change.size, size > node.fingerprint.size, node.kind == .file, node.materialization != .whole
            {
                throw .needsContent(item.number)
            }
            if change.size != nil { try tree.demandCertainty(of: node) }
            guard change.mode == nil || node.kind != .symlink else { throw .errno(.notSupported) }
            tree.settle(node)
            let status = try tree.withFile(of: node) { (file) throws(Errno) in
                let isNoted = try change.size.map { (size) throws(Errno) in
                    try tree.markTruncation(of: node, to: size, file)
                }
                let status: FileStatus
                do throws(Errno) { status = try file.apply(change) } catch {
                    // If the note stays, a later scan only takes the truncation for one through the mount.
                    if isNoted == true { try? file.setXattr(OwnXattr.dataless, to: tree.mark.value) }
                    throw error
                }
                if let size = change.size { try tree.truncateRanges(node, to: size, file) }
                return status
            }
            var fields = ItemFields(change)
            if status.permissions != node.fingerprint.mode { fields.insert(.mode) }
            if !node.fieldsOfReplacement(FileFingerprint(status)).isEmpty {
                // A file that replaced a placeholder is left to the scan: the store's content must not be filled into it.
                guard node.materialization == .whole else { return tree.entry(of: node, status) }
                tree.noteContent(FileFingerprint(status), of: node)
            }
            for name in tree.items.names(of: node) {
                name.fingerprint = FileFingerprint(status)
                fields.isEmpty ? tree.note(name) : tree.edit(name, fields.intersection(.ofNew(name.kind)))
            }
            return tree.entry(of: node, status)
        }
    }
}

extension ItemFields {
    fileprivate init(_ change: AttributeChange) {
        self = []
        if change.mode != nil { insert(.mode) }
        if change.size != nil { formUnion([.contents, .modificationDate]) }
        if change.modified != nil { insert(.modificationDate) }
    }
}

extension HeldFile {
    /// - Returns: The resulting attributes.
    fileprivate func apply(_ change: AttributeChange) throws(Errno) -> FileStatus {
        // The bits that a change of owner clears depend on the old group.
        var taken: UInt32 = 0
        if let mayKeep = change.clearsSetID { taken = try self.status().setIDThatGoes(mayKeep) }
        if change.user != nil || change.group != nil {
            try setOwner(change.user ?? .max, change.group ?? .max)
        }
        if let size = change.size {
            let file = try open(O_WRONLY)
            defer { close(file) }
            try Errno.check(ftruncate(file, Int(size)))
        }
        if let mode = change.mode { try setMode(UInt32(mode)) }
        if change.accessed != nil || change.modified != nil {
            let leave = timespec(tv_sec: 0, tv_nsec: CL_UTIME_OMIT)
            try setTimes(
                accessed: change.accessed?.timespec ?? leave, modified: change.modified?.timespec ?? leave)
        }
        let status = try status()
        guard status.mode & taken != 0 else { return status }
        try setMode(status.mode & 0o7777 & ~taken)
        return try self.status()
    }
}
