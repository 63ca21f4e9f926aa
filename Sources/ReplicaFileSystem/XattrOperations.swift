package import FuseMount
internal import Glibc
internal import ReplicaModel
internal import SystemPackage

/// Extended attributes: those of the backing file, and the virtual ones with the item's status.
extension DomainFileSystem {
    package func getxattr(
        _ context: RequestContext, node: NodeID, name: UnsafePointer<CChar>, size: Int,
        reply: consuming AttributeValueReply
    ) {
        let number = NodeNumber.number(node)
        if replica.isKnownToLack(name, number) { return reply.fail(.noAttribute) }
        let name = String(cString: name)
        answer(context, reply) { [self] () throws(ReplicaError) -> [UInt8] in
            if let key = VirtualAttribute.key(of: name), let value = status?.value(of: key, for: number) {
                return value
            }
            return try replica.xattr(name, of: NodeNumber.item(node))
        } send: { reply, value in
            reply.send(value, room: size)
        }
    }

    package func setxattr(
        _ context: RequestContext, node: NodeID, name: UnsafePointer<CChar>, value: UnsafeRawBufferPointer,
        flags: Int32, killsSetGroupID: Bool, reply: consuming EmptyReply
    ) {
        change(context, node, String(cString: name), Array(value), flags, killsSetGroupID, reply)
    }

    package func removexattr(
        _ context: RequestContext, node: NodeID, name: UnsafePointer<CChar>, reply: consuming EmptyReply
    ) {
        change(context, node, String(cString: name), nil, 0, false, reply)
    }

    package func listxattr(_ context: RequestContext, node: NodeID, size: Int, reply: consuming AttributeValueReply) {
        answer(context, reply) { [replica] () throws(ReplicaError) -> [UInt8] in
            try replica.xattrNames(of: NodeNumber.item(node)).flatMap { Array($0.utf8) + [0] }
        } send: { reply, names in
            reply.send(names, room: size)
        }
    }

    private func change(
        _ context: RequestContext, _ node: NodeID, _ name: String, _ value: [UInt8]?, _ flags: Int32,
        _ killsSetGroupID: Bool, _ reply: consuming EmptyReply
    ) {
        answer(context, reply) { [self] () throws(ReplicaError) in
            let item = NodeNumber.item(node)
            if name == VirtualAttribute.pin, let status {
                _ = try replica.attributes(of: item)
                return try setPin(value, of: item.number, status)
            }
            guard let value else { return try replica.setXattr(name, nil, flags: 0, of: item) }
            // An empty array has no address, and no address would mean removal.
            let outcome = (value + [0]).withUnsafeBytes { bytes in
                let bytes = UnsafeRawBufferPointer(rebasing: bytes.dropLast())
                return Result { () throws(ReplicaError) in
                    try replica.setXattr(name, bytes, flags: flags, of: item, killsSetGroupID: killsSetGroupID)
                }
            }
            try outcome.get()
        } send: { reply, _ in
            reply.succeed()
        }
    }

    private func setPin(
        _ value: [UInt8]?, of number: ItemNumber, _ status: any ItemStatusSource
    ) throws(ReplicaError) {
        do throws(Errno) {
            try status.setPin(value, of: number)
        } catch {
            throw .errno(error)
        }
    }
}

extension Reply where Answer == AttributeValue {
    /// Sends bytes; the reply cannot be consumed within the closure that provides them.
    fileprivate consuming func send(_ bytes: [UInt8], room: Int) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, bytes.count), alignment: 1)
        defer { copy.deallocate() }
        copy.copyBytes(from: bytes)
        send(UnsafeRawBufferPointer(start: copy.baseAddress, count: bytes.count), size: room)
    }
}
