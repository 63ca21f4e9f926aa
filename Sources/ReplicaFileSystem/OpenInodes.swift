internal import FuseMount
internal import ReplicaModel
internal import SystemPackage
internal import Threads

/// How the kernel reads and writes an open inode.
enum IOMode {
    /// Directly, from the backing file.
    case passthrough
    /// Through its page cache, asking the daemon.
    case cached
    /// By asking the daemon for each read and write: not all content was local at the first open.
    case direct
}

extension LockRank {
    /// The rank of the table of open inodes: the session registers files under it.
    fileprivate static let openInodes = LockRank(rawValue: 47)
}

/// The open inodes and how they are accessed: the kernel rejects opens that disagree (MODEL.md#platform), so the first open
/// of an inode decides for all others until the last one is closed.
final class OpenInodes: Sendable {
    private struct Inode {
        var mode: IOMode
        var backing: BackingID?
        var opens = 1
    }

    private let shards = (0..<64).map { _ in Locked<[NodeID: Inode]>([:], rank: .openInodes) }

    /// The users of an inode. The first open registers its file with the kernel under the lock: only opens of the same
    /// inode, or of the few that share the lock, wait for that.
    private func shard(of node: NodeID) -> Locked<[NodeID: Inode]> { shards[Int(node % NodeID(shards.count))] }

    func isOpen(_ node: NodeID) -> Bool {
        shard(of: node).withLock { $0[node] != nil }
    }

    /// Counts an open and decides how the file is accessed.
    /// - Throws: ``ReplicaError/needsContent(_:)`` if the other opens require all content to be local.
    func enter(_ node: NodeID, _ file: OpenFile, _ session: Session?) throws(ReplicaError) -> (IOMode, BackingID?) {
        try shard(of: node).withLock { (inodes) throws(ReplicaError) in
            guard var inode = inodes[node] else {
                let backing = Self.backing(of: file, session)
                let mode: IOMode = backing != nil ? .passthrough : file.isWhole ? .cached : .direct
                inodes[node] = Inode(mode: mode, backing: backing)
                return (mode, backing)
            }
            guard inode.mode == .direct || file.isWhole else { throw .needsContent(NodeNumber.number(node)) }
            inode.opens += 1
            inodes[node] = inode
            return (inode.mode, inode.backing)
        }
    }

    /// Counts the end of an open.
    func leave(_ node: NodeID, _ session: Session?) {
        // A later open registers the file again.
        let unused = shard(of: node).withLock { inodes -> BackingID? in
            guard var inode = inodes[node] else { return nil }
            inode.opens -= 1
            inodes[node] = inode.opens > 0 ? inode : nil
            return inode.opens > 0 ? nil : inode.backing
        }
        if let unused { session?.unregisterBacking(unused) }
    }

    /// Nil if passthrough is impossible or does not pay off; the daemon then serves the file.
    private static func backing(of file: OpenFile, _ session: Session?) -> BackingID? {
        guard let session, session.supportsPassthrough,
            PassthroughChoice.registers(
                size: file.size, isWriter: file.isWriter, isWhole: file.isWhole, hasSetID: file.hasSetID,
                byProgram: session.registersByProgram)
        else { return nil }
        do throws(Errno) {
            return try session.registerBacking(file.descriptor)
        } catch {
            return nil
        }
    }
}
