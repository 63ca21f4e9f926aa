import CLinux
import Glibc
import ReplicaModel
import SystemPackage

extension DirectoryTree {
    /// Makes the store's directory if it is not there; what is there must be a directory.
    static func makeDirectory(_ path: String) throws(RemoteStoreError) {
        do {
            try Linux.check { mkdir(path, 0o755) }
        } catch .fileExists {
            // The next step tells a directory from all else.
        } catch .noSuchFileOrDirectory {
            throw .cannotSynchronize("\(path): the directory above it does not exist")
        } catch  where error == .permissionDenied || error == .readOnlyFileSystem {
            // It may be there: mkdir(2) looks at what it may write first.
        } catch {
            throw failure(error, at: path)
        }
        do {
            _ = try Linux.open(path: path, O_RDONLY | O_DIRECTORY)
        } catch .notDirectory {
            throw .cannotSynchronize("\(path) is not a directory")
        } catch .noSuchFileOrDirectory {
            throw .cannotSynchronize("\(path) does not exist and cannot be made")
        } catch {
            throw failure(error, at: path)
        }
    }

    /// Waits until all that was written is on the disk.
    func syncToDisk() throws(RemoteStoreError) {
        _ = try openRoot()
        try at(root.path) { () throws(Errno) in
            let folder = try Linux.open(path: root.path, O_RDONLY | O_DIRECTORY)
            try Linux.check { syncfs(folder.raw) }
        }
    }
}
