internal import CLinux
internal import Glibc
package import SystemPackage

extension FileName {
    /// Opens the folder of this name for a walk.
    /// - Returns: An `O_PATH` descriptor.
    /// - Throws: As ``openBeneath(_:flags:)``.
    package func openFolder(in folder: Int32) throws(Errno) -> Int32 {
        try openBeneath(folder, flags: O_DIRECTORY)
    }

    /// Opens what has this name, or this path, below a folder without following a symlink or entering a mount, not even
    /// one of the same filesystem (a bind mount).
    /// - Returns: An `O_PATH` descriptor.
    /// - Throws: EXDEV if something is mounted there. Before Linux 5.6 ENOSYS: no walk is possible then.
    package func openBeneath(_ folder: Int32, flags: Int32 = 0) throws(Errno) -> Int32 {
        var how = cl_open_how()
        how.flags = UInt64(flags | CL_O_PATH | O_NOFOLLOW | O_CLOEXEC)
        how.resolve = UInt64(
            CL_RESOLVE_BENEATH | CL_RESOLVE_NO_SYMLINKS | CL_RESOLVE_NO_MAGICLINKS | CL_RESOLVE_NO_XDEV)
        return try withCString { (name) throws(Errno) in
            var opened = -1
            repeat {
                opened = withUnsafePointer(to: how) { how in
                    cl_call_at(
                        Int(CL_SYS_OPENAT2), folder, name, UInt(bitPattern: how),
                        UInt(MemoryLayout<cl_open_how>.size), 0, 0)
                }
            } while opened < 0 && errno == EINTR
            return try Errno.check(Int32(opened))
        }
    }
}
