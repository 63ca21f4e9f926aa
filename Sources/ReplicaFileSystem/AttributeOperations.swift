package import FuseMount
internal import Glibc
internal import ReplicaModel
internal import SystemPackage

/// Reading and changing attributes.
extension DomainFileSystem {
    package func getattr(
        _ context: RequestContext, node: NodeID, handle: FileHandle?, reply: consuming AttributesReply
    ) {
        answer(context, reply) { [self] () throws(ReplicaError) in
            try entry(of: node)
        } send: { reply, entry in
            reply.send(Attributes(entry.status), timeout: entry.timeout)
        }
    }

    package func statx(_ context: RequestContext, node: NodeID, handle: FileHandle?, reply: consuming BirthReply) {
        answer(context, reply) { [self] () throws(ReplicaError) in
            try entry(of: node)
        } send: { reply, entry in
            let born = entry.status.born
            reply.send(
                BirthStatus(
                    attributes: Attributes(entry.status), birth: born.nanoseconds == 0 ? nil : born.timespec,
                    timeout: entry.timeout))
        }
    }

    /// A node's attributes. If its file was replaced, those of the item's current file, as long as it is open: whatever
    /// the kernel then allows, it fails with ESTALE.
    private func entry(of node: NodeID) throws(ReplicaError) -> KernelEntry {
        do throws(ReplicaError) {
            return try replica.attributes(of: NodeNumber.item(node))
        } catch .errno(.stale) where inodes.isOpen(node) {
            var entry = try replica.attributes(of: NodeNumber.number(node))
            // A program that is being executed runs the former file.
            entry.status.mode &= ~UInt32(S_ISUID | S_ISGID)
            entry.isSteady = false
            return entry
        }
    }

    package func setattr(
        _ context: RequestContext, node: NodeID, handle: FileHandle?, changes: AttributeChanges,
        reply: consuming AttributesReply
    ) {
        let ticket = ownCalls.ticket(of: context.pid)
        let file = handle.flatMap { files[$0] }
        answer(context, reply) { [self] () throws(ReplicaError) -> KernelEntry in
            if let ticket {
                guard let entry = try replica.performPresented(ticket, on: NodeNumber.number(node)) else {
                    throw .errno(.noSuchFileOrDirectory)
                }
                return entry
            }
            return try setAttributes(changes, of: NodeNumber.item(node), file, WriterPrivileges(context))
        } send: { reply, entry in
            reply.send(Attributes(entry.status), timeout: entry.timeout)
        }
    }

    private func setAttributes(
        _ changes: AttributeChanges, of item: KernelItem, _ file: OpenedItem?, _ writer: WriterPrivileges
    ) throws(ReplicaError) -> KernelEntry {
        var change = AttributeChange()
        change.mode = changes.mode.map { UInt16(truncatingIfNeeded: $0 & 0o7777) }
        change.user = changes.uid
        change.group = changes.gid
        change.accessed = changes.atime.map(AttributeChange.TimeChange.init)
        change.modified = changes.mtime.map(AttributeChange.TimeChange.init)
        change.size = changes.size
        if let size = changes.size, let file, file.isWriter, file.descriptor >= 0 {
            // A caller that has the file open for writing may truncate it, even if its mode has changed since.
            guard !file.isStale(in: replica) else { throw .errno(.stale) }
            guard ftruncate(file.descriptor, Int(size)) == 0 else { throw .errno(.last) }
            change.size = nil
        }
        if changes.killPrivileges { change.clearsSetID = writer.keepsSetGroupID }
        guard !change.isEmpty else { return try replica.attributes(of: item) }
        return try replica.setAttributes(change, of: item)
    }
}

extension AttributeChange {
    fileprivate var isEmpty: Bool {
        mode == nil && user == nil && group == nil && size == nil && accessed == nil && modified == nil
            && clearsSetID == nil
    }
}

extension AttributeChange.TimeChange {
    fileprivate init(_ time: AttributeChanges.Time) {
        switch time {
        case .now: self = .now
        case .at(let time): self = .to(Timestamp(time))
        }
    }
}
