package import FuseMount
internal import Glibc
internal import ReplicaModel
internal import SystemPackage

/// chattr(1) and lsattr(1).
extension DomainFileSystem {
    package func ioctl(
        _ context: RequestContext, node: NodeID, handle: FileHandle, request: UInt32, input: UnsafeRawBufferPointer,
        room: Int, reply: consuming ControlReply
    ) {
        guard let request = FlagRequest(request) else { return reply.fail(Errno(rawValue: ENOTTY)) }
        let (given, isRoot) = (Array(input), context.uid == 0)
        answer(context, reply) { [replica] () throws(ReplicaError) in
            try replica.flags(request, given, of: NodeNumber.item(node), isRoot: isRoot)
        } send: { reply, value in
            reply.send(Array(value.prefix(room)))
        }
    }
}
