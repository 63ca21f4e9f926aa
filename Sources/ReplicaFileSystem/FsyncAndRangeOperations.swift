internal import CLinux
package import FuseMount
internal import Glibc
internal import ReplicaModel
internal import SystemPackage

/// fsync, and calls on ranges of files, which the kernel always sends to the daemon.
extension DomainFileSystem {
    package func fsync(
        _ context: RequestContext, node: NodeID, handle: FileHandle, dataOnly: Bool, reply: consuming EmptyReply
    ) {
        guard let file = files[handle] else { return reply.fail(.badFileDescriptor) }
        answer(context, reply) { [self] () throws(ReplicaError) in
            // A file that was replaced has nothing left to keep.
            guard isCurrent(file) else { return }
            var status = stat()
            try withDescriptor(of: file, forWriting: false) { descriptor -> Int32 in
                guard fstat(descriptor, &status) == 0 else { return -1 }
                return dataOnly ? fdatasync(descriptor) : Glibc.fsync(descriptor)
            }
            replica.noteSynced(file.number, size: Int64(status.st_size))
            try recordDurably()
        } send: { reply, _ in
            reply.succeed()
        }
    }

    /// Makes durable what a comparison with the tree could not detect after a power cut.
    func recordDurably() throws(ReplicaError) {
        do {
            try replica.recordDurably()
        } catch {
            throw .errno(.ioError)
        }
    }

    package func fallocate(
        _ context: RequestContext, node: NodeID, handle: FileHandle, mode: Int32, offset: Int64, length: Int64,
        reply: consuming EmptyReply
    ) {
        guard let file = files[handle] else { return reply.fail(.badFileDescriptor) }
        answer(context, reply) { [self] () throws(ReplicaError) in
            try checkCurrent(file)
            try clearSetIDUnlessKept(of: file.item, by: context)
            try withDescriptor(of: file, forWriting: true) { CLinux.fallocate($0, mode, offset, length) }
        } send: { reply, _ in
            reply.succeed()
        }
    }

    package func lseek(
        _ context: RequestContext, node: NodeID, handle: FileHandle, offset: Int64, whence: Int32,
        reply: consuming OffsetReply
    ) {
        guard let file = files[handle] else { return reply.fail(.badFileDescriptor) }
        answer(context, reply) { [self] () throws(ReplicaError) -> Int64 in
            try checkCurrent(file)
            try checkWhole(file)
            return Int64(try withDescriptor(of: file, forWriting: false) { Glibc.lseek($0, Int(offset), whence) })
        } send: { reply, offset in
            reply.send(offset)
        }
    }

    package func copyRange(
        _ context: RequestContext, from source: FileRange, to destination: FileRange, length: Int, flags: Int32,
        reply: consuming CountReply
    ) {
        guard let from = files[source.handle], let into = files[destination.handle] else {
            return reply.fail(.badFileDescriptor)
        }
        answer(context, reply) { [self] () throws(ReplicaError) -> Int in
            try checkCurrent(from)
            try checkCurrent(into)
            try checkWhole(from)
            try clearSetIDUnlessKept(of: into.item, by: context)
            return try withDescriptor(of: from, forWriting: false) { below throws(ReplicaError) in
                try withDescriptor(of: into, forWriting: true) { target in
                    var (start, end) = (source.offset, destination.offset)
                    return copy_file_range(below, &start, target, &end, length, UInt32(bitPattern: flags))
                }
            }
        } send: { reply, count in
            reply.send(count)
        }
    }

    // MARK: Descriptors

    private func checkWhole(_ file: OpenedItem) throws(ReplicaError) {
        guard try file.holds(0..<Int64.max, replica) else { throw .needsContent(file.number) }
    }

    private func isCurrent(_ file: OpenedItem) -> Bool {
        file.descriptor >= 0 || !file.isStale(in: replica)
    }

    private func checkCurrent(_ file: OpenedItem) throws(ReplicaError) {
        guard isCurrent(file) else { throw .errno(.stale) }
    }

    /// Calls `body` with a descriptor of an open file, reopened if only the kernel has one.
    /// - Throws: The errno that `body` sets when its result is negative.
    @discardableResult
    private func withDescriptor<Number: SignedInteger>(
        of file: OpenedItem, forWriting isWriter: Bool, _ body: (Int32) throws(ReplicaError) -> Number
    ) throws(ReplicaError) -> Number {
        guard file.descriptor < 0 else { return try checked(try body(file.descriptor)) }
        let descriptor = try replica.reopen(file.item, flags: isWriter && file.isWriter ? O_RDWR : O_RDONLY)
        defer { Glibc.close(descriptor) }
        return try checked(try body(descriptor))
    }

    private func checked<Number: SignedInteger>(_ result: Number) throws(ReplicaError) -> Number {
        guard result >= 0 else { throw .errno(.last) }
        return result
    }
}
