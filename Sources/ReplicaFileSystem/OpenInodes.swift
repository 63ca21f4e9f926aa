internal import FuseMount
internal import ReplicaModel
internal import SystemPackage

/// How the kernel reads and writes an open inode.
enum IOMode {
    /// By itself, from the backing file.
    case passthrough
    /// Through its page cache, asking the daemon.
    case cached
    /// Asking the daemon for each read and write: not all content was here at the first open.
    case direct
}

/// The inodes that are open and how: the kernel refuses opens that disagree (platform.md §3), so the first open of an
/// inode decides for all until the last one is gone.
final class OpenInodes: Sendable {
    private struct Slot {
        let inode = OpenInode()
        var users = 0
    }

    private let slots = Locked<[NodeID: Slot]>([:])

    func isOpen(_ node: NodeID) -> Bool {
        slots.withLock { $0[node] != nil }
    }

    /// Counts an open and says how it is to be.
    /// - Throws: ``Obstacle/needsContent(_:)`` when the others are opened in a way that needs all content here.
    func enter(_ node: NodeID, _ file: OpenFile, _ session: Session?) throws(Obstacle) -> (IOMode, BackingID?) {
        let inode = slots.withLock { slots in
            slots[node, default: Slot()].users += 1
            return slots[node]?.inode
        }
        do throws(Obstacle) {
            guard let entered = try inode?.enter(node, file, session) else { throw .errno(.ioError) }
            return entered
        } catch {
            release(node)
            throw error
        }
    }

    /// Counts the end of an open.
    func leave(_ node: NodeID, _ session: Session?) {
        slots.withLock { $0[node]?.inode }?.leave(session)
        release(node)
    }

    private func release(_ node: NodeID) {
        slots.withLock { slots in
            slots[node]?.users -= 1
            if slots[node]?.users == 0 { slots[node] = nil }
        }
    }
}

/// An inode that is open.
private final class OpenInode: Sendable {
    private struct State {
        var mode = IOMode.direct
        var backing: BackingID?
        var opens = 0
    }

    private let state = Locked(State())

    func enter(_ node: NodeID, _ file: OpenFile, _ session: Session?) throws(Obstacle) -> (IOMode, BackingID?) {
        try state.withLock { (state) throws(Obstacle) in
            if state.opens == 0 {
                state.backing = file.isWhole ? Self.register(file.descriptor, session) : nil
                state.mode = state.backing != nil ? .passthrough : file.isWhole ? .cached : .direct
            } else if state.mode != .direct, !file.isWhole {
                throw .needsContent(NodeNumber.item(node))
            }
            state.opens += 1
            return (state.mode, state.backing)
        }
    }

    func leave(_ session: Session?) {
        let unused = state.withLock { state -> BackingID? in
            state.opens -= 1
            guard state.opens == 0 else { return nil }
            defer { state.backing = nil }
            // Under the lock: an open that comes now registers anew.
            return state.backing
        }
        if let unused { session?.unregisterBacking(unused) }
    }

    /// Nil where the kernel can't: the daemon serves the file then.
    private static func register(_ descriptor: Int32, _ session: Session?) -> BackingID? {
        guard let session, session.supportsPassthrough else { return nil }
        do throws(Errno) {
            return try session.registerBacking(descriptor)
        } catch {
            return nil
        }
    }
}
