internal import CLinux
internal import Glibc
internal import SystemPackage

extension FileName {
    /// Opens the folder of this name for a walk, without following a symlink or entering a mount, not even one of the
    /// same filesystem (a bind mount).
    /// - Returns: An `O_PATH` descriptor.
    /// - Throws: EXDEV if something is mounted there. Before Linux 5.6 ENOSYS: no walk is possible then.
    func openFolder(in folder: Int32) throws(Errno) -> Int32 {
        var how = cl_open_how()
        how.flags = UInt64(CL_O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        how.resolve = UInt64(CL_RESOLVE_BENEATH | CL_RESOLVE_NO_SYMLINKS | CL_RESOLVE_NO_XDEV)
        return try withCString { (name) throws(Errno) in
            let opened = withUnsafePointer(to: how) { how in
                cl_call_at(
                    Int(CL_SYS_OPENAT2), folder, name, UInt(bitPattern: how), UInt(MemoryLayout<cl_open_how>.size), 0, 0
                )
            }
            return try Errno.check(Int32(opened))
        }
    }
}
