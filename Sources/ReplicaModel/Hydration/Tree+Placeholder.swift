internal import CLinux
internal import Glibc
internal import SystemPackage

/// Placeholders: sparse files that stand for content that is only in the store.
extension Tree {
    /// Creates a placeholder. The mark comes first, so that its zeros are never served.
    @discardableResult
    func makePlaceholder(
        _ name: FileName, in folder: Int32, size: Int64, _ fingerprint: FileFingerprint, isMarked: Bool = true
    ) throws(ReplicaError) -> FileIdentity {
        try errnos { () throws(Errno) in
            let file = try name.withCString { (text) throws(Errno) in
                try Errno.check(openat(folder, text, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600))
            }
            defer { close(file) }
            do throws(Errno) {
                try Ownership.inherit(HeldFile(descriptor: file), from: folder)
                if isMarked { try Errno.check(fsetxattr(file, OwnXattr.dataless, mark.value, mark.value.count, 0)) }
                try Errno.check(ftruncate(file, Int(size)))
                try Errno.check(fchmod(file, UInt32(fingerprint.mode == 0 ? 0o644 : fingerprint.mode)))
                let time = Timestamp(nanoseconds: fingerprint.modified).timespec
                try Errno.check(futimens(file, [time, time]))
                return FileIdentity(try FileStatus(descriptor: file))
            } catch {
                _ = name.withCString { unlinkat(folder, $0, 0) }
                throw error
            }
        }
    }

    /// Turns a file into a placeholder.
    /// - Returns: Nil if that is not possible.
    func makePlaceholder(of node: Node, _ line: BackingFolderListing.Line, in folder: Node) -> FileFingerprint? {
        guard let base = node.base, line.status.links == 1 else { return nil }
        do throws(ReplicaError) {
            let place = BackingPath(folder: try descriptor(of: folder), name: line.name)
            let status = try errnos { () throws(Errno) in
                try place.hold { (held) throws(Errno) in
                    // The name may be another file's by now.
                    guard FileIdentity(try held.status()) == FileIdentity(line.status) else { throw .stale }
                    try held.setXattr(OwnXattr.dataless, to: mark.whileEvicting)
                    let file = try held.open(O_WRONLY)
                    defer { close(file) }
                    try Errno.check(ftruncate(file, Int(base.size)))
                    try Self.releaseBlocks(of: file, size: base.size)
                    try node.keepTime(of: file)
                    try held.setXattr(OwnXattr.dataless, to: mark.value)
                    return try FileStatus(descriptor: file)
                }
            }
            node.materialization = .dataless
            node.ranges = RangeSet64()
            node.dirty.remove(.contents)
            return FileFingerprint(status)
        } catch {
            return nil  // It will be compared with the store's content.
        }
    }
}
