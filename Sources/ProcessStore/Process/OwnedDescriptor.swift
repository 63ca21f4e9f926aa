import Glibc
import SystemPackage

/// A descriptor that is closed when nobody has it any more.
final class OwnedDescriptor: Sendable {
    let raw: Int32

    init(_ raw: Int32) {
        self.raw = raw
    }

    /// - Parameter raw: The result of a call: -1 with errno set when it failed.
    /// - Throws: What errno says.
    convenience init(checking raw: Int32) throws(Errno) {
        guard raw >= 0 else { throw Errno(rawValue: errno) }
        self.init(raw)
    }

    deinit {
        close(raw)
    }
}
