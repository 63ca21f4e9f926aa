import Glibc

/// An open descriptor, closed by its last owner.
final class Handle: Sendable {
    let raw: Int32

    init(_ raw: Int32) {
        self.raw = raw
    }

    deinit {
        // Nothing is written through a cache that only close(2) would report: the bytes are already the kernel's.
        close(raw)
    }

    /// The path under which the kernel knows the open file, for calls that have no descriptor form.
    var path: String { "/proc/self/fd/\(raw)" }
}
