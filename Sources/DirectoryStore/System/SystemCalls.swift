import CLinux
import Glibc
import ReplicaModel
import SystemPackage

/// System calls that retry EINTR and throw failures. Large: one function for each call.
enum SystemCalls {
    /// Runs a call that returns -1 and sets errno, and retries it while signals interrupt it.
    @discardableResult
    static func check<Value: FixedWidthInteger>(_ call: () -> Value) throws(Errno) -> Value {
        while true {
            let value = call()
            if value != -1 { return value }
            if errno != EINTR { throw Errno(rawValue: errno) }
        }
    }

    static func open(path: String, _ flags: Int32) throws(Errno) -> OpenDescriptor {
        OpenDescriptor(try check { Glibc.open(path, flags | O_CLOEXEC) })
    }

    /// Opens an entry of a folder. A symlink is never followed: it fails with ELOOP, or ENOTDIR with O_DIRECTORY.
    static func open(
        _ name: FileName, in folder: OpenDescriptor, _ flags: Int32, mode: UInt32 = 0
    ) throws(Errno) -> OpenDescriptor {
        try name.withCString { (text) throws(Errno) in
            OpenDescriptor(try check { openat(folder.raw, text, flags | O_CLOEXEC | O_NOFOLLOW, mode) })
        }
    }

    /// Opens an entry for reading, also one that the store's user owns and may not read: with the permission, for the
    /// duration of the call.
    static func openAsOwner(_ name: FileName, in folder: OpenDescriptor) throws(Errno) -> OpenDescriptor {
        do throws(Errno) {
            return try open(name, in: folder, O_RDONLY | O_NONBLOCK)
        } catch {
            guard error == .permissionDenied, geteuid() != 0 else { throw error }
            let held = try open(name, in: folder, CL_O_PATH)
            return try OwnerPermissions.with(S_IRUSR, of: held.raw) { () throws(Errno) in
                try open(path: held.path, O_RDONLY | O_NONBLOCK)
            }
        }
    }

    /// Opens a folder for traversal. Symlinks are not followed, and a mountpoint fails with EXDEV, even a bind mount
    /// of the same filesystem.
    static func openFolder(_ name: FileName, in folder: OpenDescriptor) throws(Errno) -> OpenDescriptor {
        OpenDescriptor(try name.openFolder(in: folder.raw))
    }

    static func status(of handle: OpenDescriptor) throws(Errno) -> FileStatus {
        var raw = cl_statx()
        try check { cl_statx_of(handle.raw, "", Int32(CL_AT_EMPTY_PATH), CL_STATX_ALL, &raw) }
        var status = FileStatus(raw)
        if status.kind == .file { status.inherit(InheritedIdentity.value(of: handle)) }
        return status
    }

    static func status(of name: FileName, in folder: OpenDescriptor) throws(Errno) -> FileStatus {
        var raw = cl_statx()
        _ = try name.withCString { (text) throws(Errno) in
            try check { cl_statx_of(folder.raw, text, AT_SYMLINK_NOFOLLOW, CL_STATX_ALL, &raw) }
        }
        var status = FileStatus(raw)
        if status.kind == .file { status.inherit(InheritedIdentity.value(of: name, in: folder)) }
        return status
    }

    /// Renames an entry; never replaces another one unless `flags` requests an exchange.
    static func rename(
        _ name: FileName, in folder: OpenDescriptor, to newName: FileName, in newFolder: OpenDescriptor,
        flags: Int32 = CL_RENAME_NOREPLACE
    ) throws(Errno) {
        _ = try name.withCString { (from) throws(Errno) in
            _ = try newName.withCString { (to) throws(Errno) in
                try check { renameat2(folder.raw, from, newFolder.raw, to, UInt32(flags)) }
            }
        }
    }

    static func unlink(_ name: FileName, in folder: OpenDescriptor, isFolder: Bool = false) throws(Errno) {
        _ = try name.withCString { (text) throws(Errno) in
            try check { unlinkat(folder.raw, text, isFolder ? AT_REMOVEDIR : 0) }
        }
    }

    static func makeFolder(_ name: FileName, in folder: OpenDescriptor) throws(Errno) {
        _ = try name.withCString { (text) throws(Errno) in try check { mkdirat(folder.raw, text, 0o700) } }
    }

    static func makeSymlink(_ name: FileName, in folder: OpenDescriptor, to target: [UInt8]) throws(Errno) {
        // A target is a sequence of bytes like a name; the kernel checks its length.
        _ = try FileName(bytes: target).withCString { (target) throws(Errno) in
            _ = try name.withCString { (text) throws(Errno) in try check { symlinkat(target, folder.raw, text) } }
        }
    }

    static func target(of name: FileName, in folder: OpenDescriptor) throws(Errno) -> [UInt8] {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = try name.withCString { (text) throws(Errno) in
            try check { readlinkat(folder.raw, text, &bytes, bytes.count) }
        }
        return bytes.prefix(length).map { UInt8(bitPattern: $0) }
    }

    static func link(_ name: FileName, in folder: OpenDescriptor, to newName: FileName, in newFolder: OpenDescriptor)
        throws(Errno)
    {
        _ = try name.withCString { (from) throws(Errno) in
            _ = try newName.withCString { (to) throws(Errno) in
                try check { linkat(folder.raw, from, newFolder.raw, to, 0) }
            }
        }
    }

    /// Creates a file without a name, open for writing.
    static func openUnnamed(in folder: OpenDescriptor) throws(Errno) -> OpenDescriptor {
        OpenDescriptor(try check { openat(folder.raw, ".", CL_O_TMPFILE | O_WRONLY | O_CLOEXEC, 0o600) })
    }

    /// Gives an open file a name in a folder of its filesystem.
    static func link(_ file: OpenDescriptor, as name: FileName, in folder: OpenDescriptor) throws(Errno) {
        _ = try name.withCString { (text) throws(Errno) in
            try check { linkat(AT_FDCWD, file.path, folder.raw, text, AT_SYMLINK_FOLLOW) }
        }
    }

    /// Sets an open file's modification time; the access time stays.
    ///
    /// Sets both times: if only the modification time is set, inotify reports that the file was written (IN_MODIFY).
    static func setModificationDate(_ date: Timestamp, of file: OpenDescriptor) throws(Errno) {
        var status = stat()
        try check { fstat(file.raw, &status) }
        var times = [status.st_atim, timespec(date)]
        try check { futimens(file.raw, &times) }
    }

    private static func timespec(_ date: Timestamp) -> Glibc.timespec {
        Glibc.timespec(tv_sec: Int(date.seconds), tv_nsec: Int(date.subsecond))
    }

    /// Sets the modification time; the access time stays.
    static func setModificationDate(_ date: Timestamp, of name: FileName, in folder: OpenDescriptor) throws(Errno) {
        var times = [Glibc.timespec(tv_sec: 0, tv_nsec: Int(CL_UTIME_OMIT)), timespec(date)]
        _ = try name.withCString { (text) throws(Errno) in
            try check { utimensat(folder.raw, text, &times, AT_SYMLINK_NOFOLLOW) }
        }
    }
}
