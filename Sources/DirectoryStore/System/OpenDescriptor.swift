import CLinux
import Glibc

/// An open descriptor, closed by its last owner.
final class OpenDescriptor: Sendable {
    let raw: Int32

    init(_ raw: Int32) {
        self.raw = raw
    }

    deinit {
        // close(2) can't report lost writes here: nothing is cached outside the kernel.
        close(raw)
    }

    /// The kernel's path of the open file, for system calls without a descriptor variant.
    var path: String { "\(CL_DESCRIPTORS)\(raw)" }
}
