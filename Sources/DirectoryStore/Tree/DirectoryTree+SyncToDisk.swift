import CLinux
import Glibc
import ReplicaModel
import SystemPackage

extension DirectoryTree {
    /// Syncs all written data to the disk.
    func syncToDisk() throws(RemoteStoreError) {
        _ = try openRoot()
        try at(root.path) { () throws(Errno) in
            let folder = try SystemCalls.open(path: root.path, O_RDONLY | O_DIRECTORY)
            try SystemCalls.check { syncfs(folder.raw) }
        }
        do throws(Errno) { try memory?.sync() } catch {
            throw .cannotSynchronize("renames in \(root.path) can't be recorded: \(error)")
        }
    }
}
