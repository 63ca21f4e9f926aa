/// INIT flags of <linux/fuse.h> that libfuse 3.14 doesn't pass on.
enum KernelFlag {
    static let parallelDirectoryOperations: UInt64 = 1 << 18
    static let handleKillPrivilegesV2: UInt64 = 1 << 28
    static let longSetxattr: UInt64 = 1 << 29
    static let directIOAllowMmap: UInt64 = 1 << 36
    static let passthrough: UInt64 = 1 << 37
    static let overIOUring: UInt64 = 1 << 41
}
