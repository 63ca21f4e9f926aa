import CLinux
import Glibc
package import SystemPackage

/// Whether a filesystem keeps extended attributes.
package enum AttributeSupport {
    /// Whether attributes of the `user.` namespace are kept at this path; reads one and sets none.
    package static func isThere(at path: FilePath) -> Bool {
        getxattr(path.string, "user.replica.doctor", nil, 0) >= 0 || errno != ENOTSUP
    }
}
