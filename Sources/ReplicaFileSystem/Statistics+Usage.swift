internal import Glibc
internal import ReplicaModel

extension Glibc.statvfs {
    /// Shows the space of the store instead of that of the local disk.
    ///
    /// A write needs space here first, so no more is available than here. The numbers are only shown: a write to a mount whose
    /// store is full succeeds, and is uploaded when there is space. The numbers of files stay those of the local disk.
    mutating func show(_ usage: StoreUsage) {
        let block = max(UInt(f_frsize), 1)
        // Rounded up, so that a small quota is not shown as a filesystem without size.
        f_blocks = (UInt(usage.total) + block - 1) / block
        f_bfree = UInt(usage.total - usage.used) / block
        f_bavail = min(UInt(usage.free) / block, f_bavail)
    }
}
