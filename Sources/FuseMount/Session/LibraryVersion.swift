internal import CFuse

/// The libfuse that this program runs with.
package enum LibraryVersion {
    /// As it says itself: `3.14.0`.
    package static var libfuse: String { String(cString: fuse_pkgversion()) }

    /// Prints fusermount3's version on standard output, where there is one, and the kernel interface that libfuse speaks at most:
    /// it tells that in no other way. What a mount speaks is the lower one of this and the kernel's.
    package static func printKernelInterface() { fuse_lowlevel_version() }
}
