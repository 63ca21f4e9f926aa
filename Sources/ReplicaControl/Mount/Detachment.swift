import CMount
package import SystemPackage

/// Detaches mounts without a daemon.
package enum Detachment {
    /// Unmounts the mount whose root is held, even if it is in use: with umount2(2), or fusermount3 without the privilege.
    /// Another mount that is at its path by now stays.
    /// - Parameter path: Its path, for fusermount3.
    /// - Returns: Whether it is unmounted, by this call or by somebody else in between.
    package static func unmount(_ root: Int32, at path: FilePath) -> Bool {
        path.withPlatformString { cmount_detach(root, $0) } == 0 || cmount_is_gone(root)
    }
}
