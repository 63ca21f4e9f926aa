package import FuseMount
internal import ReplicaModel
internal import SystemPackage

/// Renaming.
extension DomainFileSystem {
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
}
