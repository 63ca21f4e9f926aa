internal import CFuse

/// The libfuse that this program runs with.
package enum LibraryVersion {
    /// As libfuse reports it: `3.14.0`.
    package static var libfuse: String { String(cString: fuse_pkgversion()) }

    /// Prints fusermount3's version, if it is installed, and the newest kernel interface that libfuse supports, on
    /// standard output. There is no other way to get the latter. A mount uses the older one of libfuse's and the
    /// kernel's.
    package static func printKernelInterface() { fuse_lowlevel_version() }
}
