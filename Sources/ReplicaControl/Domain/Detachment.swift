import CLinux
import Glibc
package import SystemPackage

/// Detaches mounts without a daemon.
package enum Detachment {
    /// Unmounts the mount whose root is held, even if it is in use: with umount2(2), or fusermount3 without the privilege.
    /// Another mount that is at its path by now stays.
    /// - Parameter path: Its path, for fusermount3.
    /// - Returns: Whether it is unmounted, by this call or by somebody else in between.
    package static func unmount(_ root: Int32, at path: FilePath) -> Bool {
        if umount2("\(CL_DESCRIPTORS)\(root)", Int32(MNT_DETACH)) == 0 { return true }
        guard errno == EPERM else { return isGone(root) }
        let words = [SystemPath.fusermount, "-u", "-z", "--", path.string]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        arguments.append(nil)
        defer { for argument in arguments { free(argument) } }
        var child: pid_t = 0
        var status: Int32 = -1
        if posix_spawn(&child, words[0], nil, nil, arguments, environ) == 0 {
            while waitpid(child, &status, 0) < 0, errno == EINTR {}
        }
        return status == 0 || isGone(root)
    }

    /// While it is held, no other mount gets its number.
    private static func isGone(_ root: Int32) -> Bool {
        do { return try MountTable.mount(of: root) == nil } catch { return false }
    }
}
