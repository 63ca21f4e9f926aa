import CLinux
import Glibc
import ReplicaModel
import SystemPackage

extension DirectoryTree {
    /// Creates the store's directory.
    static func makeDirectory(_ path: String, mode: UInt16) throws(RemoteStoreError) {
        do {
            try Linux.check { mkdir(path, mode_t(mode)) }
        } catch .noSuchFileOrDirectory {
            throw .cannotSynchronize("\(path): the directory above it does not exist")
        } catch {
            throw .cannotSynchronize("\(path) can't be created: \(error)")
        }
    }

    /// Opens the store's directory for reading.
    /// - Throws: ``RemoteStoreError/cannotSynchronize(_:)`` if it is not a directory.
    static func openDirectory(_ path: String) throws(RemoteStoreError) -> Handle {
        do {
            return try Linux.open(path: path, O_RDONLY | O_DIRECTORY)
        } catch .notDirectory {
            throw .cannotSynchronize("\(path) is not a directory")
        } catch {
            throw failure(error, at: path)
        }
    }

    /// Syncs all written data to the disk.
    func syncToDisk() throws(RemoteStoreError) {
        _ = try openRoot()
        try at(root.path) { () throws(Errno) in
            let folder = try Linux.open(path: root.path, O_RDONLY | O_DIRECTORY)
            try Linux.check { syncfs(folder.raw) }
        }
        do throws(Errno) { try memory?.sync() } catch {
            throw .cannotSynchronize("renames in \(root.path) can't be recorded: \(error)")
        }
    }

    /// The space of the filesystem that the directory is on.
    func usage() throws(RemoteStoreError) -> StoreUsage? {
        let root = try openRoot()
        var status = statvfs()
        try at(self.root.path) { () throws(Errno) in _ = try Linux.check { fstatvfs(root.raw, &status) } }
        return StoreUsage(
            blocks: UInt64(status.f_blocks), free: UInt64(status.f_bfree), available: UInt64(status.f_bavail),
            of: UInt64(status.f_frsize))
    }
}
