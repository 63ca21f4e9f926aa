import CLinux
import Glibc
package import SystemPackage

/// Whether a filesystem keeps extended attributes.
package enum XattrSupport {
    /// Whether attributes of the `user.` namespace are kept at this path; reads one and sets none.
    package static func isThere(at path: FilePath) -> Bool {
        getxattr(path.string, "user.replica.doctor", nil, 0) >= 0 || errno != ENOTSUP
    }

    /// A short attribute; nil if there is none, or it can't be read.
    package static func value(of name: String, at path: FilePath) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = getxattr(path.string, name, &bytes, bytes.count)
        return count >= 0 ? Array(bytes.prefix(count)) : nil
    }
}
