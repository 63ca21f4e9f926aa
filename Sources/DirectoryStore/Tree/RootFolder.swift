import CLinux
import Glibc
import ReplicaModel
import SystemPackage
import Threads

/// The store's directory, which may disappear and come back: unmounted, renamed, replaced. Another directory in its place is
/// never opened before it is accepted.
final class RootFolder: Sendable {
    /// What an opened directory is seen to be.
    private struct Stamp: Hashable {
        var device: UInt64
        var inode: UInt64
        var birth: Int64

        init(_ status: FileStatus) { (device, inode, birth) = (status.device, status.inode, status.birth) }
    }

    private struct State {
        /// The store's directory when it was last there.
        var last: Stamp
        /// What distinguishes it from others.
        var identity: String
        var isLost = false
        /// The directory that is in its place.
        var stranger: String?
        /// One of these that the engine was told about.
        var refused: String?
    }

    /// The result of opening the root.
    enum Finding {
        case usual
        /// The directory has disappeared since the last check.
        case lost
        /// It is back, or another directory was accepted.
        case found
    }

    let path: String
    /// Where inode numbers differ after each mount, the kind of file system.
    private let type: FileSystemType?
    private let state: Locked<State>

    /// Takes the current directory for the store's.
    /// - Parameter type: Set where inode numbers tell nothing.
    init(path: String, type: FileSystemType?) throws(RemoteStoreError) {
        self.path = path
        self.type = type
        let status = try at(path) { () throws(Errno) in
            try Linux.status(of: try Linux.open(path: path, RootFolder.flags))
        }
        let stamp = Stamp(status)
        state = Locked(State(last: stamp, identity: Self.identity(of: stamp, type)))
    }

    /// Not kept open: a descriptor would prevent unmounting the file system.
    private static let flags = CL_O_PATH | O_DIRECTORY

    var device: UInt64 { state.withLock { $0.last.device } }
    /// Distinguishes the store's directory from another in its place, even after a reboot.
    var identity: String { state.withLock { $0.identity } }
    var isLost: Bool { state.withLock { $0.isLost } }
    /// Whether another directory was in its place when it was last looked for.
    var isOther: Bool { state.withLock { $0.stranger != nil } }

    /// Inode number and birth time; where the first is another after each mount, the kind of file system and when it was made.
    private static func identity(of stamp: Stamp, _ type: FileSystemType?) -> String {
        guard let type else { return "\(stamp.inode)-\(stamp.birth)" }
        return "on-\(hex(UInt64(type.rawValue)))-\(stamp.birth)"
    }

    /// Opens the store's directory, if it is there.
    func open() -> (handle: Handle?, finding: Finding) {
        do throws(Errno) {
            let handle = try Linux.open(path: path, Self.flags)
            return arrive(handle, Stamp(try Linux.status(of: handle)))
        } catch {
            return (nil, leave(stranger: nil))
        }
    }

    private func leave(stranger: String?) -> Finding {
        state.withLock {
            let wasLost = $0.isLost
            ($0.isLost, $0.stranger) = (true, stranger)
            return wasLost ? .usual : .lost
        }
    }

    private func arrive(_ handle: Handle, _ stamp: Stamp) -> (Handle?, Finding) {
        let (identity, last, isLost) = state.withLock { ($0.identity, $0.last, $0.isLost) }
        if stamp == last, !isLost { return (handle, .usual) }
        let found = Self.identity(of: stamp, type)
        // Another device with another directory is an empty mount point, or something mounted over the directory.
        guard found == identity else {
            return (nil, leave(stranger: stamp.device == last.device ? found : nil))
        }
        // The same directory is on another device when its disk has another number. Without a birth time nothing tells.
        guard stamp.device == last.device || type == nil && stamp.birth != 0 else { return (nil, leave(stranger: nil)) }
        return state.withLock {
            guard $0.identity == found else { return (nil, .usual) }
            $0 = State(last: stamp, identity: found)
            return (handle, .found)
        }
    }

    /// The store's directory is the one of this identity, whatever stands there now.
    func expect(_ identity: String) {
        state.withLock {
            guard $0.identity != identity else { return }
            ($0.identity, $0.isLost) = (identity, true)
        }
    }

    /// The engine was told that another directory is there.
    func refuse() { state.withLock { $0.refused = $0.stranger } }

    /// Takes the directory that was refused for the store's.
    func accept() {
        state.withLock {
            guard let refused = $0.refused else { return }
            ($0.identity, $0.isLost, $0.stranger, $0.refused) = (refused, true, nil, nil)
        }
    }
}
