internal import CLinux
internal import Glibc
internal import SystemPackage

extension FilePath {
    /// Whether this folder's disk, or the user's quota, does not have so many bytes left. It is tried with a file without a name:
    /// statfs(2) knows no quotas. False where that is not possible; then writing fails with its own error.
    func lacksRoom(for bytes: Int64) -> Bool {
        let file = withPlatformString { open($0, CL_O_TMPFILE | O_WRONLY | O_CLOEXEC, 0o600) }
        guard file >= 0 else { return Errno.last.isFullDisk }
        defer { close(file) }
        return fallocate(file, 0, 0, bytes) != 0 && Errno.last.isFullDisk
    }
}
