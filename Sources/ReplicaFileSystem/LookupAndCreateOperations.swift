package import FuseMount
internal import Glibc
internal import ReplicaModel
internal import SystemPackage

/// Looking up and creating names.
extension DomainFileSystem {
    package func lookup(
        _ context: RequestContext, parent: NodeID, name: UnsafePointer<CChar>, reply: consuming EntryReply
    ) {
        let name = FileName(cString: name)
        answer(context, reply) { [self] () throws(ReplicaError) -> FuseMount.Entry in
            if let entry = try lookupByHandle(name, parent) { return entry }
            do throws(ReplicaError) {
                return FuseMount.Entry(try replica.lookup(name, in: NodeNumber.item(parent)))
            } catch .errno(.noSuchFileOrDirectory) {
                return .negative(timeout: CacheTimeout.long)
            }
        } send: { reply, entry in
            reply.send(entry)
        }
    }

    /// `.` and `..` are looked up for file handles of nodes that the kernel may have dropped (``Features/export``).
    private func lookupByHandle(_ name: FileName, _ node: NodeID) throws(ReplicaError) -> FuseMount.Entry? {
        switch name {
        case FileName("."):
            let generation = NodeNumber.generation(node)
            return FuseMount.Entry(try replica.lookup(NodeNumber.number(node), generation: generation))
        case FileName(".."): return FuseMount.Entry(try replica.lookupParent(of: NodeNumber.item(node)))
        default: return nil
        }
    }

    package func mkdir(
        _ context: RequestContext, parent: NodeID, name: UnsafePointer<CChar>, mode: UInt32,
        reply: consuming EntryReply
    ) {
        make(context, parent, name, reply) { [replica] (name, folder) throws(ReplicaError) in
            try replica.makeFolder(
                name, in: folder, mode: UInt16(truncatingIfNeeded: mode & 0o7777), caller: Caller(context))
        }
    }

    package func mknod(
        _ context: RequestContext, parent: NodeID, name: UnsafePointer<CChar>, mode: UInt32, device: UInt64,
        reply: consuming EntryReply
    ) {
        make(context, parent, name, reply) { [replica] (name, folder) throws(ReplicaError) in
            try replica.makeNode(name, in: folder, mode: mode, device: device, caller: Caller(context))
        }
    }

    package func symlink(
        _ context: RequestContext, target: UnsafePointer<CChar>, parent: NodeID, name: UnsafePointer<CChar>,
        reply: consuming EntryReply
    ) {
        let target = FileName(cString: target).bytes
        make(context, parent, name, reply) { [replica] (name, folder) throws(ReplicaError) in
            try replica.makeSymlink(name, in: folder, target: target, caller: Caller(context))
        }
    }

    package func link(
        _ context: RequestContext, node: NodeID, parent: NodeID, name: UnsafePointer<CChar>,
        reply: consuming EntryReply
    ) {
        make(context, parent, name, reply) { [self] (name, folder) throws(ReplicaError) in
            try replica.link(NodeNumber.item(node), as: name, in: folder)
        }
    }

    package func readlink(_ context: RequestContext, node: NodeID, reply: consuming LinkTargetReply) {
        answer(context, reply) { [replica] () throws(ReplicaError) in
            FileName(bytes: try replica.target(of: NodeNumber.item(node)))
        } send: { reply, target in
            send(target, by: reply)
        }
    }

    /// Creates an entry with `operation`, or carries out the remote change that the daemon's own request stands for.
    private func make(
        _ context: RequestContext, _ parent: NodeID, _ name: UnsafePointer<CChar>, _ reply: consuming EntryReply,
        _ operation: @escaping @Sendable (FileName, KernelItem) throws(ReplicaError) -> KernelEntry
    ) {
        let name = FileName(cString: name)
        let folder = NodeNumber.item(parent)
        let ticket = ownCalls.ticket(of: context.pid)
        answer(context, reply) { [replica] () throws(ReplicaError) in
            guard let ticket else { return try operation(name, folder) }
            guard let entry = try replica.performPresented(ticket, name, in: folder.number) else {
                throw .errno(.noSuchFileOrDirectory)
            }
            return entry
        } send: { reply, entry in
            reply.send(FuseMount.Entry(entry))
        }
    }
}

/// A reply cannot be consumed in the closure that provides the C string, so the string outlives the closure.
private func send(_ target: FileName, by reply: consuming LinkTargetReply) {
    let text = target.withCString { strdup($0) }
    defer { free(text) }
    guard let text else { return reply.fail(.noMemory) }
    reply.send(text)
}
