package import FuseMount
internal import ReplicaModel
internal import SystemPackage

/// Removing and renaming.
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

    package func rename(
        _ context: RequestContext, parent: NodeID, name: UnsafePointer<CChar>, newParent: NodeID,
        newName: UnsafePointer<CChar>, flags: FuseMount.RenameFlags, reply: consuming EmptyReply
    ) {
        let (old, new) = (FileName(cString: name), FileName(cString: newName))
        let (from, into) = (NodeNumber.item(parent), NodeNumber.item(newParent))
        let ticket = ownCalls.ticket(of: context.pid)
        answer(context, reply) { [replica] () throws(ReplicaError) in
            if let ticket {
                _ = try replica.performPresented(ticket, old, in: from.number)
            } else {
                let flags = ReplicaModel.RenameFlags(rawValue: flags.rawValue)
                try replica.rename(old, in: from, to: new, in: into, flags: flags)
            }
        } send: { reply, _ in
            reply.succeed()
        }
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
