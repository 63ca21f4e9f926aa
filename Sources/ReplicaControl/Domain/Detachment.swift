import CLinux
import Glibc
package import SystemPackage

/// Takes from the tree what nobody serves any more.
package enum Detachment {
    /// Unmounts what is on top at this path, in use or not: by umount2(2), or by fusermount3 for who may not.
    /// Returns whether it succeeded.
    package static func unmount(_ path: FilePath) -> Bool {
        if umount2(path.string, Int32(MNT_DETACH) | CL_UMOUNT_NOFOLLOW) == 0 { return true }
        let words = ["/usr/bin/fusermount3", "-u", "-z", "--", path.string]
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
