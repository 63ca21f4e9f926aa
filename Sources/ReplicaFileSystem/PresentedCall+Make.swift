internal import CLinux
internal import Glibc
internal import ReplicaModel
internal import SystemPackage

extension PresentedCall {
    /// The folders whose locks the call takes.
    var folders: [ItemNumber] {
        switch self {
        case .makeFile(_, let folder), .makeFolder(_, let folder), .makeSymlink(_, let folder),
            .remove(_, let folder, _):
            [folder.number]
        case .rename(_, let from, _, let into): [from.number, into.number]
        case .touchContent, .touchStatus: []
        }
    }

    /// Makes the system call in the mount with this root: one call on one name in a folder that was verified to be the intended
    /// one, or on a verified item.
    /// - Returns: Whether it succeeded. The filesystem determines what is created, including mode and target.
    func make(in root: Int32) -> Bool {
        switch self {
        case .makeFile(let name, let folder):
            folder.open(in: root) { at in name.withCString { mknodat(at, $0, S_IFREG | 0o600, 0) } }
        case .makeFolder(let name, let folder):
            folder.open(in: root) { at in name.withCString { mkdirat(at, $0, 0o700) } }
        case .makeSymlink(let name, let folder):
            folder.open(in: root) { at in name.withCString { symlinkat(".", at, $0) } }
        case .rename(let old, let from, let new, let into):
            from.open(in: root) { from in
                let isMade = into.open(in: root) { into in
                    old.withCString { old in new.withCString { renameat(from, old, into, $0) } }
                }
                return isMade ? 0 : -1
            }
        case .remove(let name, let folder, let isFolder):
            folder.open(in: root) { at in name.withCString { unlinkat(at, $0, isFolder ? AT_REMOVEDIR : 0) } }
        case .touchContent(let item, let size):
            item.open(in: root, as: S_IFREG) { truncate("/proc/thread-self/fd/\($0)", Int(size)) }
        case .touchStatus(let item):
            item.open(in: root) { utimensat($0, "", nil, CL_AT_EMPTY_PATH) }
        }
    }
}

extension PresentedItem {
    /// Calls `body` with an `O_PATH` descriptor of the item.
    ///
    /// The path may have changed, and may change while it is walked: no symlink is followed, the mount is not left, and
    /// the result is used only if it has the item's number. From then on the descriptor refers to the item, even if
    /// names change.
    /// - Returns: False if the item is not at its place, is not a `type`, or `body` failed. Always before Linux 5.6.
    fileprivate func open(in root: Int32, as type: mode_t? = nil, _ body: (Int32) -> Int32) -> Bool {
        let walked = path.isEmpty ? [0x2E] : [UInt8](path.map(\.bytes).joined(separator: [0x2F]))
        // Why the item is not at its place does not matter.
        guard let file = try? FileName(bytes: walked).openBeneath(root) else { return false }
        defer { close(file) }
        // The number that the kernel has cached: it does not request an inode's number again.
        var status = cl_statx()
        guard cl_statx_of(file, "", CL_AT_EMPTY_PATH | CL_AT_STATX_DONT_SYNC, CL_STATX_ALL, &status) == 0,
            status.ino == number.rawValue, type == nil || mode_t(status.mode) & S_IFMT == type
        else { return false }
        return body(file) == 0
    }
}
