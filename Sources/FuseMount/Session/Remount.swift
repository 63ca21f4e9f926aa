internal import Glibc
public import SystemPackage

/// Changes of a mount that is there (`mount -o remount`).
public enum Remount {
    /// Has the flags of what is mounted on top at a path be those of a new mount with these words. Whoever uses it goes on,
    /// and the filesystem is not asked.
    /// - Parameter words: As ``MountOptions/extra`` has them, `ro` too.
    /// - Throws: EBUSY when it is to be read-only and something is open for writing; EINVAL where nothing is mounted;
    ///   EPERM for others than root.
    public static func setFlags(_ words: [String], at path: String) throws(Errno) {
        guard mount("none", path, nil, UInt(MS_REMOUNT | MountOptions.flags(of: words)), nil) == 0 else {
            throw Errno(rawValue: errno)
        }
    }
}
