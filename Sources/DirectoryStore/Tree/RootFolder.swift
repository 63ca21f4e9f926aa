import CLinux
import Glibc
import ReplicaModel
import SystemPackage
import Threads

/// The store's directory, which may disappear and come back: unmounted, renamed, replaced. Another directory in its place, or
/// an older state of it, is never opened before it is accepted.
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
        var generation: Generation
        var isLost = false
        /// The directory that is in its place.
        var stranger: Stranger?
        /// The one of these that the engine was told about.
        var refused: Stranger?
    }

    /// Another directory, or an older state of the store's.
    private struct Stranger: Equatable {
        var identity: String
        var generation: Generation
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
        let (stamp, generation) = try at(path) { () throws(Errno) in
            let handle = try Linux.open(path: path, RootFolder.flags)
            return (Stamp(try Linux.status(of: handle)), try Generation(of: handle))
        }
        state = Locked(State(last: stamp, identity: Self.identity(of: stamp, type), generation: generation))
    }

    /// Not kept open: a descriptor would prevent unmounting the file system.
    private static let flags = CL_O_PATH | O_DIRECTORY

    var device: UInt64 { state.withLock { $0.last.device } }
    /// Distinguishes the store's directory from another in its place, even after a reboot.
    var identity: String { state.withLock { $0.identity } }
    var generation: Generation { state.withLock { $0.generation } }
    var isLost: Bool { state.withLock { $0.isLost } }
    /// Whether another directory, or an older state of it, was in its place when it was last looked for.
    var isOther: Bool { state.withLock { $0.stranger != nil } }
    /// Whether it was an older state.
    var isOlder: Bool { state.withLock { $0.stranger?.identity == $0.identity } }

    /// Inode number and birth time; where the first is another after each mount, the kind of file system and when it was made.
    private static func identity(of stamp: Stamp, _ type: FileSystemType?) -> String {
        guard let type else { return "\(stamp.inode)-\(stamp.birth)" }
        return "on-\(hex(UInt64(type.rawValue)))-\(stamp.birth)"
    }

    /// Opens the store's directory, if it is there.
    func open() -> (handle: Handle?, finding: Finding) {
        do throws(Errno) {
            let handle = try Linux.open(path: path, Self.flags)
            return try arrive(handle, Stamp(try Linux.status(of: handle)))
        } catch {
            return (nil, leave(stranger: nil))
        }
    }

    private func leave(stranger: Stranger?) -> Finding {
        state.withLock {
            let wasLost = $0.isLost
            ($0.isLost, $0.stranger) = (true, stranger)
            return wasLost ? .usual : .lost
        }
    }

    private func arrive(_ handle: Handle, _ stamp: Stamp) throws(Errno) -> (Handle?, Finding) {
        // Before the directory's number is read: another thread may have it count on meanwhile.
        let (identity, last, isLost, known) = state.withLock { ($0.identity, $0.last, $0.isLost, $0.generation) }
        if stamp == last, !isLost { return (handle, .usual) }
        let found = Stranger(identity: Self.identity(of: stamp, type), generation: try Generation(of: handle))
        // Another device with another directory is an empty mount point, or something mounted over the directory.
        guard found.identity == identity else {
            return (nil, leave(stranger: stamp.device == last.device ? found : nil))
        }
        // The same directory has another device number if its disk got another number. Without a birth time they can't
        // be told apart.
        guard stamp.device == last.device || type == nil && stamp.birth != 0 else { return (nil, leave(stranger: nil)) }
        guard found.generation >= known else { return (nil, leave(stranger: found)) }
        return state.withLock {
            guard $0.identity == found.identity, $0.generation <= found.generation else { return (nil, .usual) }
            $0 = State(last: stamp, identity: found.identity, generation: found.generation)
            return (handle, .found)
        }
    }

    /// Compares the generation of the opened directory with what it was, and notes it.
    /// - Throws: EIO and the like; ESTALE if the directory is in an older state than before.
    func checkGeneration(of handle: Handle) throws(Errno) {
        // Before it is read: another thread may have the directory count on meanwhile.
        let known = generation
        let found = try Generation(of: handle)
        // Another replica has just written it: what is noted must outlive a power cut.
        if found > known { try Generation.sync(handle) }
        state.withLock { $0.generation = max($0.generation, found) }
        if found < known {
            _ = leave(stranger: Stranger(identity: identity, generation: found))
            throw .staleNFSFileHandle
        }
    }

    /// Has the directory count on. Where that cannot be written, an older state is not detected.
    func renewGeneration(of handle: Handle) {
        do throws(Errno) {
            guard let next = try Generation.increment(of: handle, known: generation) else { return }
            state.withLock { $0.generation = max($0.generation, next) }
        } catch {
            return  // It is tried again after the next period.
        }
    }

    /// The store's directory is the one of this identity and at least of this generation, whatever stands there now.
    func expect(_ identity: String, _ generation: Generation) {
        state.withLock {
            if $0.identity == identity, $0.generation >= generation { return }
            ($0.identity, $0.generation, $0.isLost) = (identity, generation, true)
        }
    }

    /// The engine was told that something else is there.
    func refuse() { state.withLock { $0.refused = $0.stranger } }

    /// Takes the directory that was refused for the store's.
    func accept() {
        state.withLock {
            guard let refused = $0.refused else { return }
            ($0.identity, $0.generation, $0.isLost) = (refused.identity, refused.generation, true)
            ($0.stranger, $0.refused) = (nil, nil)
        }
    }
}
