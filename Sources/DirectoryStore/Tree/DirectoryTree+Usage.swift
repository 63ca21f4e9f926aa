import CLinux
import Glibc
import ReplicaModel
import SystemPackage

extension DirectoryTree {
    /// The space of the filesystem that the directory is on.
    func usage() throws(RemoteStoreError) -> StoreUsage? {
        let root = try openRoot()
        var status = statvfs()
        try at(self.root.path) { () throws(Errno) in _ = try SystemCalls.check { fstatvfs(root.raw, &status) } }
        return StoreUsage(
            blocks: UInt64(status.f_blocks), free: UInt64(status.f_bfree), available: UInt64(status.f_bavail),
            of: UInt64(status.f_frsize))
    }
}
