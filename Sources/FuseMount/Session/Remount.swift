internal import Glibc
public import SystemPackage

/// Changes an existing mount (`mount -o remount`).
public enum Remount {
    /// Changes the flags of the topmost mount at a path to those of a new mount with these words. Users of the mount are
    /// not affected, and the filesystem is not asked.
    /// - Parameters:
    ///   - words: As in ``MountOptions/extra``, and `ro`.
    ///   - path: The mountpoint.
    /// - Throws: EBUSY if it is to become read-only while files are open for writing; EINVAL if nothing is mounted;
    ///   EPERM unless root.
    public static func setFlags(_ words: [String], at path: String) throws(Errno) {
        guard mount("none", path, nil, UInt(MS_REMOUNT | MountOptions.flags(of: words)), nil) == 0 else {
            throw Errno(rawValue: errno)
        }
    }
}
