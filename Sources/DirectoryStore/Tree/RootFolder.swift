import CLinux
import Glibc
import ReplicaModel
import SystemPackage
import Threads

/// The store's directory, which may disappear and come back: unmounted, renamed, replaced. Another directory in its
/// place, or an older state of it, is never opened before the user accepts it.
final class RootFolder: Sendable {
    /// The properties that identify an opened directory.
    private struct Seen: Hashable {
        var device: UInt64
        var inode: UInt64
        var birth: Int64

        init(_ status: FileStatus) { (device, inode, birth) = (status.device, status.inode, status.birth) }
    }

    private struct State {
        /// The store's directory when it was last found.
        var last: Seen
        /// Distinguishes it from other directories.
        var identity: String
        var generation: RootGeneration
        var isLost = false
        /// The directory that is in its place now.
        var stranger: Stranger?
        /// The other directory that was reported to the engine.
        var refused: Stranger?
    }

    /// Another directory, or an older state of the store's.
    private struct Stranger: Equatable {
        var identity: String
        var generation: RootGeneration
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
    /// The type of the filesystem, if inode numbers change at each mount.
    private let type: FileSystemType?
    private let state: Locked<State>

    /// Uses the current directory as the store's.
    /// - Parameter type: Set if inode numbers identify nothing.
    init(path: String, type: FileSystemType?) throws(RemoteStoreError) {
        self.path = path
        self.type = type
        let (seen, generation) = try at(path) { () throws(Errno) in
            let handle = try SystemCalls.open(path: path, RootFolder.flags)
            return (Seen(try SystemCalls.status(of: handle)), try RootGeneration(of: handle))
        }
        state = Locked(State(last: seen, identity: Self.identity(of: seen, type), generation: generation))
    }

    /// The directory is not kept open: a descriptor would prevent unmounting the filesystem.
    private static let flags = CL_O_PATH | O_DIRECTORY

    var device: UInt64 { state.withLock { $0.last.device } }
    /// Distinguishes the store's directory from another in its place, even after a reboot.
    var identity: String { state.withLock { $0.identity } }
    var generation: RootGeneration { state.withLock { $0.generation } }
    var isLost: Bool { state.withLock { $0.isLost } }
    /// Whether the last check found another directory, or an older state, in its place.
    var isOther: Bool { state.withLock { $0.stranger != nil } }
    /// Whether the last check found an older state.
    var isOlder: Bool { state.withLock { $0.stranger?.identity == $0.identity } }

    /// Inode number and birth time; if inode numbers change at each mount, the type of the filesystem and its birth
    /// time.
    private static func identity(of seen: Seen, _ type: FileSystemType?) -> String {
        guard let type else { return "\(seen.inode)-\(seen.birth)" }
        return "on-\(hex(UInt64(type.rawValue)))-\(seen.birth)"
    }

    /// Opens the store's directory, if it exists.
    func open() -> (handle: OpenDescriptor?, finding: Finding) {
        do throws(Errno) {
            let handle = try SystemCalls.open(path: path, Self.flags)
            return try arrive(handle, Seen(try SystemCalls.status(of: handle)))
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

    private func arrive(_ handle: OpenDescriptor, _ seen: Seen) throws(Errno) -> (OpenDescriptor?, Finding) {
        // Read before the directory's number: another thread may increment that meanwhile.
        let (identity, last, isLost, known) = state.withLock { ($0.identity, $0.last, $0.isLost, $0.generation) }
        if seen == last, !isLost { return (handle, .usual) }
        let found = Stranger(identity: Self.identity(of: seen, type), generation: try RootGeneration(of: handle))
        // Another device with another directory is an empty mountpoint, or a filesystem mounted over the directory.
        guard found.identity == identity else {
            return (nil, leave(stranger: seen.device == last.device ? found : nil))
        }
        // The same directory has another device number if its disk got a new one. Without a birth time, the two cases
        // are indistinguishable.
        guard seen.device == last.device || type == nil && seen.birth != 0 else { return (nil, leave(stranger: nil)) }
        guard found.generation >= known else { return (nil, leave(stranger: found)) }
        return state.withLock {
            guard $0.identity == found.identity, $0.generation <= found.generation else { return (nil, .usual) }
            $0 = State(last: seen, identity: found.identity, generation: found.generation)
            return (handle, .found)
        }
    }

    /// Compares the generation of the opened directory with the known one, and records it.
    /// - Throws: EIO and similar errors; ESTALE if the directory is in an older state than before.
    func checkGeneration(of handle: OpenDescriptor) throws(Errno) {
        // Read before the directory's number: another thread may increment that meanwhile.
        let known = generation
        let found = try RootGeneration(of: handle)
        // Another replica has just written it: the recorded number must survive a power cut.
        if found > known { try RootGeneration.sync(handle) }
        state.withLock { $0.generation = max($0.generation, found) }
        if found < known {
            _ = leave(stranger: Stranger(identity: identity, generation: found))
            throw .staleNFSFileHandle
        }
    }

    /// Increments the directory's generation. If that can't be written, an older state is not detected.
    func renewGeneration(of handle: OpenDescriptor) {
        do throws(Errno) {
            guard let next = try RootGeneration.increment(of: handle, known: generation) else { return }
            state.withLock { $0.generation = max($0.generation, next) }
        } catch {
            return  // Retried after the next period.
        }
    }

    /// Expects the directory with this identity and at least this generation, whichever directory is there now.
    func expect(_ identity: String, _ generation: RootGeneration) {
        state.withLock {
            if $0.identity == identity, $0.generation >= generation { return }
            ($0.identity, $0.generation, $0.isLost) = (identity, generation, true)
        }
    }

    /// Records that the other directory was reported to the engine.
    func refuse() { state.withLock { $0.refused = $0.stranger } }

    /// Accepts the reported directory as the store's.
    func accept() {
        state.withLock {
            guard let refused = $0.refused else { return }
            ($0.identity, $0.generation, $0.isLost) = (refused.identity, refused.generation, true)
            ($0.stranger, $0.refused) = (nil, nil)
        }
    }
}
