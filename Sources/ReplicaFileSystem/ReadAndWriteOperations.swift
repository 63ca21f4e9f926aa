package import FuseMount
internal import Glibc
internal import ReplicaModel
internal import SystemPackage

/// Reads and writes that the kernel does not make directly.
extension DomainFileSystem {
    package func read(
        _ context: RequestContext, node: NodeID, handle: FileHandle, offset: Int64, size: Int,
        reply: consuming DataReply
    ) {
        traffic.countRead()
        guard let file = files[handle], file.descriptor >= 0 else { return reply.fail(.badFileDescriptor) }
        read(context, file, offset..<offset.saturatingAdd(Int64(size)), attempts: 8, reply)
    }

    /// Answers a read as soon as the bytes are local.
    /// - Parameter attempts: How many more times content may be fetched for it.
    private func read(
        _ context: RequestContext, _ file: OpenedItem, _ range: Range<Int64>, attempts: Int,
        _ reply: consuming DataReply
    ) {
        switch Result(catching: { () throws(ReplicaError) in try file.holds(range, replica) }) {
        case .success(true):
            file.advance(past: range)
            reply.send(descriptor: file.descriptor, offset: range.lowerBound, count: range.count)
        case .failure(let error):
            reply.fail(error.errno)
        case .success(false):
            guard attempts > 0 else { return reply.fail(.ioError) }
            let ahead = file.rangeToFetch(for: range)
            bring(context, file.number, range, ahead: ahead, reply) { [self] reply, uncached in
                guard let uncached else { return read(context, file, range, attempts: attempts - 1, reply) }
                guard file.isSeen(uncached.version) else { return reply.fail(.stale) }
                reply.send(uncached.bytes)
                // An answer sent just after the kernel's pages of this content were dropped would stay cached for ever.
                guard replica.contentVersion(of: file.number) != uncached.version else { return }
                session?.notifier.invalidateInode(file.node)
            }
        }
    }

    package func write(
        _ context: RequestContext, node: NodeID, handle: FileHandle, offset: Int64, buffer: UnsafeRawBufferPointer,
        options: WriteOptions, reply: consuming CountReply
    ) {
        traffic.countWrite()
        guard let file = files[handle], file.descriptor >= 0 else { return reply.fail(.badFileDescriptor) }
        let outcome = Result { () throws(ReplicaError) in
            if options.killPrivileges { try clearSetID(of: file.item, for: WriterPrivileges(context)) }
            try file.write(buffer, at: offset)
        }
        switch outcome {
        case .success: reply.send(buffer.count)
        case .failure(let error): reply.fail(error.errno)
        }
    }
}

extension OpenedItem {
    /// Writes all of `buffer`: after a short answer the kernel drops the rest.
    fileprivate func write(_ buffer: UnsafeRawBufferPointer, at offset: Int64) throws(ReplicaError) {
        do throws(Errno) { try buffer.writeAll(to: descriptor, at: offset) } catch { throw .errno(error) }
    }
}
