import CLinux
import Glibc
import ReplicaModel
import SystemPackage
import Threads

/// The store's directory, which may disappear and come back: unmounted, renamed, replaced.
final class RootFolder: Sendable {
    struct State {
        var device: UInt64
        var inode: UInt64
        var birth: Int64
        var isLost = false
    }

    /// The result of opening the root.
    enum Finding {
        case usual
        /// The directory has disappeared since the last check.
        case lost
        /// It is back, or another directory is in its place.
        case found
    }

    let path: String
    private let state: Locked<State>

    /// Accepts the current directory as the store's.
    init(path: String) throws(RemoteStoreError) {
        self.path = path
        let status = try at(path) { () throws(Errno) in
            try Linux.status(of: try Linux.open(path: path, RootFolder.flags))
        }
        state = Locked(State(device: status.device, inode: status.inode, birth: status.birth))
    }

    /// Not kept open: a descriptor would prevent unmounting the file system.
    private static let flags = CL_O_PATH | O_DIRECTORY

    var device: UInt64 { state.withLock { $0.device } }
    /// Distinguishes this directory from another in its place, even after a reboot.
    var identity: String { state.withLock { "\($0.inode)-\($0.birth)" } }
    var birth: Int64 { state.withLock { $0.birth } }
    var isLost: Bool { state.withLock { $0.isLost } }

    /// Opens the directory, if it exists and is on the same file system as at the start.
    func open() -> (handle: Handle?, finding: Finding) {
        do throws(Errno) {
            let handle = try Linux.open(path: path, Self.flags)
            return arrive(handle, try Linux.status(of: handle))
        } catch {
            return (nil, leave())
        }
    }

    private func leave() -> Finding {
        state.withLock {
            let wasLost = $0.isLost
            $0.isLost = true
            return wasLost ? .usual : .lost
        }
    }

    private func arrive(_ handle: Handle, _ status: FileStatus) -> (Handle?, Finding) {
        // Another device is an empty mount point, or something mounted over the directory.
        if status.device != device { return (nil, leave()) }
        return state.withLock {
            let isSame = $0.inode == status.inode && $0.birth == status.birth
            let finding: Finding = isSame && !$0.isLost ? .usual : .found
            $0 = State(device: status.device, inode: status.inode, birth: status.birth)
            return (handle, finding)
        }
    }
}
