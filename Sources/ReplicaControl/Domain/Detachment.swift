import CLinux
import Glibc
package import SystemPackage

/// Detaches mounts without a daemon.
package enum Detachment {
    /// Unmounts the topmost mount at this path, even if it is in use: with umount2(2), or fusermount3 without the privilege.
    /// Returns whether it succeeded.
    package static func unmount(_ path: FilePath) -> Bool {
        if umount2(path.string, Int32(MNT_DETACH) | CL_UMOUNT_NOFOLLOW) == 0 { return true }
        let words = [SystemPath.fusermount, "-u", "-z", "--", path.string]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        arguments.append(nil)
        defer { for argument in arguments { free(argument) } }
        var child: pid_t = 0
        var status: Int32 = -1
        if posix_spawn(&child, words[0], nil, nil, arguments, environ) == 0 {
            while waitpid(child, &status, 0) < 0, errno == EINTR {}
        }
        return status == 0
    }
}
