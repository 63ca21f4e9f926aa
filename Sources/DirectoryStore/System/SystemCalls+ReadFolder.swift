import CLinux
import Glibc
import ReplicaModel
import SystemPackage

/// An entry as returned by readdir(3).
struct FolderEntry {
    var name: FileName
    var inode: UInt64
    /// Whether it is a folder; nil if the filesystem does not report that.
    var isFolder: Bool?
}

extension SystemCalls {
    /// All entries of a folder except `.` and `..`, in the filesystem's order.
    static func entries(of folder: OpenDescriptor) throws(Errno) -> [FolderEntry] {
        let raw = try check { openat(folder.raw, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard let stream = fdopendir(raw) else {
            let failure = Errno(rawValue: errno)
            close(raw)
            throw failure
        }
        defer { closedir(stream) }
        var found: [FolderEntry] = []
        while let entry = try nextEntry(of: stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { FileName(cString: $0) }
            }
            if name.bytes == [0x2E] || name.bytes == [0x2E, 0x2E] { continue }
            let type = Int(entry.pointee.d_type)
            found.append(
                FolderEntry(
                    name: name, inode: UInt64(entry.pointee.d_ino),
                    isFolder: type == Int(DT_UNKNOWN) ? nil : type == Int(DT_DIR)))
        }
        return found
    }

    /// Waits until inotify(7) has queued the events of every rename and removal that was visible in a folder. The
    /// kernel holds the folder's lock until an event is queued (`vfs_rename`, `vfs_unlink` and `vfs_rmdir` in Linux),
    /// and takes the same lock to list it.
    /// - Returns: False if the folder can't be listed.
    static func awaitEvents(of folder: OpenDescriptor) -> Bool {
        guard let raw = try? check({ openat(folder.raw, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }) else {
            return false
        }
        let reader = OpenDescriptor(raw)
        return withUnsafeTemporaryAllocation(byteCount: 512, alignment: 8) {
            cl_getdents64(reader.raw, $0.baseAddress!, $0.count) >= 0
        }
    }
}
