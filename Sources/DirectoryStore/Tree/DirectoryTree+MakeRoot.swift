import CLinux
import Glibc
import ReplicaModel
import SystemPackage

extension DirectoryTree {
    /// Creates the store's directory.
    static func makeDirectory(_ path: String, mode: UInt16) throws(RemoteStoreError) {
        do {
            try SystemCalls.check { mkdir(path, mode_t(mode)) }
        } catch .noSuchFileOrDirectory {
            throw .cannotSynchronize("\(path): the directory above it does not exist")
        } catch {
            throw .cannotSynchronize("\(path) can't be created: \(error)")
        }
    }

    /// Opens the store's directory for reading.
    /// - Throws: ``RemoteStoreError/cannotSynchronize(_:)`` if it is not a directory.
    static func openDirectory(_ path: String) throws(RemoteStoreError) -> OpenDescriptor {
        do {
            return try SystemCalls.open(path: path, O_RDONLY | O_DIRECTORY)
        } catch .notDirectory {
            throw .cannotSynchronize("\(path) is not a directory")
        } catch {
            throw failure(error, at: path)
        }
    }
}
