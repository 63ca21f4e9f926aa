package import FuseMount
internal import Glibc
internal import ReplicaModel
internal import SystemPackage

/// df(1).
extension DomainFileSystem {
    package func statfs(_ context: RequestContext, node: NodeID, reply: consuming StatisticsReply) {
        ownCalls.prove(context.pid)
        var status = Glibc.statvfs()
        guard statvfs(replica.folders.tree.string, &status) == 0 else { return reply.fail(.last) }
        // The daemon's own calls only find out which filesystem they reach.
        if ownCalls.ticket(of: context.pid) == nil, let usage = source.usage() { status.show(usage) }
        reply.send(Statistics(status))
    }
}

extension Glibc.statvfs {
    /// Shows the space of the store instead of that of the local disk.
    ///
    /// A write needs space here first, so no more is available than here. The numbers are only shown: a write to a mount whose
    /// store is full succeeds, and is uploaded when there is space. The numbers of files stay those of the local disk.
    mutating func show(_ usage: StoreUsage) {
        let block = max(UInt(f_frsize), 1)
        // Rounded up, so that a small quota is not shown as a filesystem without size.
        f_blocks = (UInt(usage.total) + block - 1) / block
        f_bfree = UInt(usage.total - usage.used) / block
        f_bavail = min(UInt(usage.free) / block, f_bavail)
    }
}
