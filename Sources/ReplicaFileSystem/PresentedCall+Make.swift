internal import CLinux
internal import Glibc
internal import ReplicaModel
internal import SystemPackage

extension PresentedCall {
    /// The folders whose locks the call takes.
    var folders: [[FileName]] {
        switch self {
        case .makeFile(let path), .makeFolder(let path), .makeSymlink(let path), .remove(let path, _):
            [path.dropLast()]
        case .rename(let old, let new): [old.dropLast(), new.dropLast()]
        case .touchContent, .touchStatus: []
        }
    }

    /// Makes the system call, relative to the mount's root.
    /// - Returns: Whether it succeeded. What it made is the filesystem's choice: mode and target are its own.
    func make(in root: Int32) -> Bool {
        switch self {
        case .makeFile(let path):
            path.withPath { mknodat(root, $0, S_IFREG | 0o600, 0) } == 0
        case .makeFolder(let path):
            path.withPath { mkdirat(root, $0, 0o700) } == 0
        case .makeSymlink(let path):
            path.withPath { symlinkat(".", root, $0) } == 0
        case .rename(let old, let new):
            old.withPath { old in new.withPath { renameat(root, old, root, $0) } } == 0
        case .remove(let path, let isFolder):
            path.withPath { unlinkat(root, $0, isFolder ? AT_REMOVEDIR : 0) } == 0
        case .touchContent(let path, let size):
            path.withPath(in: "/proc/thread-self/fd/\(root)/") { truncate($0, Int(size)) } == 0
        case .touchStatus(let path):
            path.withPath { utimensat(root, $0, nil, AT_SYMLINK_NOFOLLOW) } == 0
        }
    }
}

extension [FileName] {
    /// Calls `body` with the names as a path. Paths that are too long fail in the system call.
    fileprivate func withPath(in folder: String = "", _ body: (UnsafePointer<CChar>) -> Int32) -> Int32 {
        FileName(bytes: [UInt8](folder.utf8) + [UInt8](map(\.bytes).joined(separator: [0x2F]))).withCString(body)
    }
}
