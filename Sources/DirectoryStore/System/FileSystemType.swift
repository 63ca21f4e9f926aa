import CLinux
import SystemPackage

/// The type of a filesystem, from statfs(2).
struct FileSystemType: RawRepresentable, Hashable, Sendable {
    let rawValue: UInt32

    init(rawValue: UInt32) { self.rawValue = rawValue }

    init(of file: OpenDescriptor) throws(Errno) {
        var status = cl_statfs()
        try SystemCalls.check { cl_statfs_of(file.raw, &status) }
        rawValue = UInt32(truncatingIfNeeded: status.type)
    }

    /// All FUSE daemons and virtiofs: sshfs, rclone, a filesystem of the host, another replica.
    static let fuse = FileSystemType(rawValue: 0x6573_5546)

    /// Filesystems whose files another machine can change: inotify(7) reports only changes from this machine.
    private static let shared: Set<UInt32> = [
        0x6969,  // nfs
        0x517B, 0xFF53_4D42, 0xFE53_4D42,  // smb, cifs, smb3
        0x0102_1997,  // 9p
        0x00C3_6400,  // ceph
        0x5346_414F, 0x6B41_4653, 0x7375_7245,  // afs (OpenAFS, the kernel's), coda
        0x0116_1970, 0x7461_636F, 0x0BD0_0BD0, 0x4750_4653,  // gfs2, ocfs2, lustre, gpfs
        0x786F_4256, 0xBACB_ACBC, 0x0153_46CE,  // vboxsf, vmhgfs, prl_fs
    ]

    /// Linux's own filesystems, which support all attributes: ext4, xfs, btrfs, f2fs, tmpfs, zfs, bcachefs.
    private static let ofLinux: Set<UInt32> = [
        0xEF53, 0x5846_5342, 0x9123_683E, 0xF2F5_2010, 0x0102_1994, 0x2FC1_2FC1, 0xCA45_1A4E,
    ]

    /// Whether it is one of Linux's own filesystems, which have every feature that no mount option or old format
    /// removes.
    var isOfLinux: Bool { Self.ofLinux.contains(rawValue) }

    /// Whether the filesystem's files can change without this machine's kernel noticing.
    /// - Parameter isOnDevice: Whether it is on a block device of this machine, like the FUSE drivers of exfat and
    ///   ntfs.
    func isShared(isOnDevice: Bool) -> Bool {
        self == .fuse ? !isOnDevice : Self.shared.contains(rawValue)
    }
}
