internal import CLinux
internal import Glibc
internal import SystemPackage

/// Space that a start needs on a full disk (docs/decisions/reserve.md).
extension StateFolders {
    var reserve: FilePath { root.appending("reserve") }

    /// What a start writes before anything can be evicted: the database's log and its index, and the record of the mount.
    static let reservedBytes: Int64 = 1 << 20
    /// The free space from which the reserve is made, in multiples of it.
    private static let roomForReserve: Int64 = 16

    /// Gives the reserve back if the disk, or the user's quota, has less room than that.
    func giveBackReserve() {
        // A disk that can't tell its free space fails at the next step, with its own error.
        let isFull = (try? freeBytes()).map { $0 < Self.reservedBytes } ?? false
        guard isFull || root.lacksRoom(for: Self.reservedBytes) else { return }
        _ = reserve.withPlatformString { unlink($0) }
    }

    /// Makes the reserve if it is missing and there is plenty of room. Without it everything works but the start on a full disk.
    /// - Returns: False if that failed, as where a filesystem can't allocate blocks.
    func makeReserve() -> Bool {
        guard reserve.withPlatformString({ access($0, F_OK) }) != 0, let free = try? freeBytes(),  // Tried again later.
            free >= Self.reservedBytes * Self.roomForReserve
        else { return true }
        // Named when it has its blocks: neither a crash nor a full disk leaves a reserve without.
        let file = root.withPlatformString { open($0, CL_O_TMPFILE | O_WRONLY | O_CLOEXEC, 0o600) }
        guard file >= 0 else { return false }
        defer { close(file) }
        guard fallocate(file, 0, 0, Self.reservedBytes) == 0 else { return false }
        return reserve.withPlatformString {
            linkat(AT_FDCWD, "\(CL_DESCRIPTORS)\(file)", AT_FDCWD, $0, AT_SYMLINK_FOLLOW) == 0
        }
    }
}
