internal import Glibc
package import SystemPackage

/// A descriptor that is closed by its last owner.
package final class OwnedDescriptor: Sendable {
    package let raw: Int32

    package init(_ raw: Int32) {
        self.raw = raw
    }

    /// - Parameter raw: The result of a call: -1 with errno set if it failed.
    /// - Throws: The errno.
    package convenience init(checking raw: Int32) throws(Errno) {
        guard raw >= 0 else { throw Errno(rawValue: errno) }
        self.init(raw)
    }

    deinit {
        close(raw)
    }
}
