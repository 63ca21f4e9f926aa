internal import CLinux
internal import Glibc
internal import SystemPackage

/// The changes of setattr; nil leaves a value unchanged.
package struct AttributeChange: Sendable {
    /// The twelve permission bits.
    package var mode: UInt16?
    package var user: UInt32?
    package var group: UInt32?
    /// In bytes.
    package var size: Int64?
    package var accessed: TimeChange?
    package var modified: TimeChange?
    /// Set if a file's set-user-ID and set-group-ID bits have to be cleared, as after a write by another user; returns
    /// whether the caller may keep a set-group-ID bit of a file that its group may not execute (is in the group).
    package var clearsSetID: (@Sendable (_ group: UInt32) -> Bool)?

    package init() {}

    /// A new time of a file: utimensat(2)'s `UTIME_NOW` or a given one.
    package enum TimeChange: Sendable, Hashable {
        case now
        case to(Timestamp)

        var timespec: Glibc.timespec {
            switch self {
            case .now: Glibc.timespec(tv_sec: 0, tv_nsec: CL_UTIME_NOW)
            case .to(let time): time.timespec
            }
        }
    }
}

extension Replica {
    /// chmod, chown, truncate and utimensat(2). None fetches content, except extending a file whose content is not
    /// completely local.
    package func setAttributes(_ change: AttributeChange, of item: some ItemReference) throws(ReplicaError) -> Entry {
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
                    // A note that stays only makes a later scan believe that the mount cut the file.
                    if isNoted == true { try? file.setXattr(OwnXattr.dataless, to: tree.mark.value) }
                    throw error
                }
                if let size = change.size { tree.truncateRanges(node, to: size, file) }
                return status
            }
            var fields = ItemFields(change)
            if status.permissions != node.fingerprint.mode { fields.insert(.mode) }
            if !node.fieldsOfReplacement(FileFingerprint(status)).isEmpty {
                // What took a placeholder's name is left to the scan: the store's content must not be filled into it.
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

extension FileStatus {
    /// The bits that a write by another user clears. As in the kernel (setattr_should_drop_suidgid), set-group-ID without
    /// execute permission for the group stays if the writer is in the group.
    fileprivate func setIDThatGoes(_ mayKeep: (_ group: UInt32) -> Bool) -> UInt32 {
        guard kind == .file, hasSetID else { return 0 }
        let isKept = mode & UInt32(S_IXGRP) == 0 && mayKeep(group)
        return mode & UInt32(isKept ? S_ISUID : S_ISUID | S_ISGID)
    }
}

extension Tree {
    /// Notes on a placeholder that it will be shorter than the store's content, before it is: a crash may come in between.
    /// - Returns: Whether it was not noted yet, and is now.
    fileprivate func markTruncation(of node: Node, to size: Int64, _ file: HeldFile) throws(Errno) -> Bool {
        // An empty file becomes a whole one, which has no mark.
        guard node.kind == .file, node.materialization != .whole, size > 0, size < node.fingerprint.size else {
            return false
        }
        do throws(Errno) {
            // Another file in its place has no mark, and gets none.
            let said = try file.xattr(OwnXattr.dataless)
            guard mark.believes(said), said != mark.whenTruncated else { return false }
        } catch .noAttribute {
            return false
        }
        try file.setXattr(OwnXattr.dataless, to: mark.whenTruncated)
        return true
    }

    /// Truncated content needs no fetching any more.
    fileprivate func truncateRanges(_ node: Node, to size: Int64, _ file: HeldFile) {
        guard node.materialization != .whole else { return }
        node.ranges.truncate(to: size)
        if size == 0 { becomeWhole(node, file) }
    }
}
