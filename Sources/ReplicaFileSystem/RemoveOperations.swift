package import FuseMount
internal import ReplicaModel
internal import SystemPackage

/// Removing.
extension DomainFileSystem {
    package func unlink(
        _ context: RequestContext, parent: NodeID, name: UnsafePointer<CChar>, reply: consuming EmptyReply
    ) {
        remove(context, parent, name, isFolder: false, reply)
    }

    package func rmdir(
        _ context: RequestContext, parent: NodeID, name: UnsafePointer<CChar>, reply: consuming EmptyReply
    ) {
        remove(context, parent, name, isFolder: true, reply)
    }

    private func remove(
        _ context: RequestContext, _ parent: NodeID, _ name: UnsafePointer<CChar>, isFolder: Bool,
        _ reply: consuming EmptyReply
    ) {
        let name = FileName(cString: name)
        let folder = NodeNumber.item(parent)
        let ticket = ownCalls.ticket(of: context.pid)
        answer(context, reply) { [replica] () throws(ReplicaError) in
            if let ticket {
                _ = try replica.performPresented(ticket, name, in: folder.number)
            } else {
                try replica.remove(name, in: folder, isFolder: isFolder)
            }
        } send: { reply, _ in
            reply.succeed()
        }
    }
}
