internal import CLinux
package import FuseMount
internal import Glibc
internal import ReplicaModel
internal import SystemPackage

/// Opening and closing files.
extension DomainFileSystem {
    /// Flags that only concern the kernel: it determines the offset of appended bytes, and the buffers of
    /// requests are not aligned like the caller's.
    private static let kernelFlags = O_APPEND | CL_O_DIRECT

    package func open(_ context: RequestContext, node: NodeID, options: OpenOptions, reply: consuming OpenReply) {
        let number = NodeNumber.number(node)
        guard Self.isForReading(options.flags), replica.isDataless(number) else {
            return openNow(context, node, options, reply)
        }
        revalidate(context, number, reply) { [self] reply in openNow(context, node, options, reply) }
    }

    /// Programs that open without waiting (O_NONBLOCK) ask for attributes, as lsattr(1), for which the kernel opens the file
    /// once more, without O_LARGEFILE.
    private static func isForReading(_ flags: Int32) -> Bool {
        flags & O_ACCMODE == O_RDONLY && flags & (O_NONBLOCK | O_TRUNC) == 0 && flags & CL_O_LARGEFILE != 0
    }

    private func openNow(
        _ context: RequestContext, _ node: NodeID, _ options: OpenOptions, _ reply: consuming OpenReply
    ) {
        answer(context, reply) { [self] () throws(ReplicaError) in
            let item = NodeNumber.item(node)
            let flags = options.flags & ~Self.kernelFlags
            let below = try openFile(item, flags, isAppending: options.flags & O_APPEND != 0)
            let opened = try enter(node, below)
            if below.isWriter, flags & (O_SYNC | O_DSYNC) != 0 { try recordDurably() }
            if options.killPrivileges, flags & O_TRUNC != 0 { try clearSetID(of: item, for: WriterPrivileges(context)) }
            return opened
        } send: { [self] reply, opened in
            if !reply.send(opened) { release(opened.handle) }
        }
    }

    /// Append-only files (chattr(1)) can only be opened for appending.
    private func openFile(_ item: KernelItem, _ flags: Int32, isAppending: Bool) throws(ReplicaError) -> OpenFile {
        do throws(ReplicaError) {
            return try replica.open(item, flags: flags)
        } catch .errno(.notPermitted) where isAppending {
            return try replica.open(item, flags: flags | O_APPEND)
        }
    }

    package func create(
        _ context: RequestContext, parent: NodeID, name: UnsafePointer<CChar>, mode: UInt32, options: OpenOptions,
        reply: consuming CreateReply
    ) {
        let name = FileName(cString: name)
        answer(context, reply) { [self] () throws(ReplicaError) in
            let (entry, below) = try createFile(name, NodeNumber.item(parent), mode, options, Caller(context))
            let made = FuseMount.Entry(entry)
            return Created(entry: made, file: try enter(made.node, below, isNew: true))
        } send: { [self] reply, created in
            send(created, by: reply)
        }
    }

    package func tmpfile(
        _ context: RequestContext, parent: NodeID, mode: UInt32, options: OpenOptions, reply: consuming CreateReply
    ) {
        let flags = options.flags & ~Self.kernelFlags
        answer(context, reply) { [self] () throws(ReplicaError) in
            let (entry, below) = try replica.createUnnamed(
                in: NodeNumber.item(parent), mode: UInt16(truncatingIfNeeded: mode & 0o7777), flags: flags,
                caller: Caller(context))
            let made = FuseMount.Entry(entry)
            return Created(entry: made, file: try enter(made.node, below, isNew: true))
        } send: { [self] reply, created in
            send(created, by: reply)
        }
    }

    private func send(_ created: Created, by reply: consuming CreateReply) {
        guard !reply.send(created.entry, created.file) else { return }
        release(created.file.handle)
        replica.forget(NodeNumber.number(created.entry.node), count: 1)
    }

    private struct Created {
        var entry: FuseMount.Entry
        var file: OpenedFile
    }

    private func createFile(
        _ name: FileName, _ parent: KernelItem, _ mode: UInt32, _ options: OpenOptions, _ caller: Caller
    ) throws(ReplicaError) -> (KernelEntry, OpenFile) {
        do throws(ReplicaError) {
            return try replica.createFile(
                name, in: parent, mode: UInt16(truncatingIfNeeded: mode & 0o7777),
                flags: options.flags & ~Self.kernelFlags, caller: caller)
        } catch .errno(.fileExists) where options.flags & O_EXCL == 0 {
            // It was created from the store since the kernel's lookup: ESTALE makes the kernel look again.
            throw .errno(.stale)
        }
    }

    package func release(
        _ context: RequestContext, node: NodeID, handle: FileHandle, flags: Int32, reply: consuming EmptyReply
    ) {
        release(handle)
        reply.succeed()
    }

    private func release(_ handle: FileHandle) {
        if let file = files.remove(handle) { close(file) }
    }

    /// Ends an open, like its release.
    func close(_ file: OpenedItem) {
        if file.descriptor >= 0 { Glibc.close(file.descriptor) }
        inodes.leave(file.node, session)
        replica.closed(file.number, isWriter: file.isWriter)
    }

    /// Creates the handle for an opened backing file, and decides how the kernel treats it.
    private func enter(
        _ node: NodeID, _ below: OpenFile, isNew: Bool = false
    ) throws(ReplicaError) -> OpenedFile {
        do throws(ReplicaError) {
            self.options.accessTimes?.apply(to: below.descriptor)
            let (mode, backing) = try inodes.enter(node, below, session)
            let isPassthrough = mode == .passthrough
            // A write by another user clears the bits, but the kernel executes programs by the cached mode. From now on
            // it caches none.
            if below.isWriter, below.hasSetID, !isNew { session?.expireAttributes(of: node) }
            let item = OpenedItem(node: node, below: below, descriptor: isPassthrough ? -1 : below.descriptor)
            if isPassthrough {
                Glibc.close(below.descriptor)
                // Stores to a mapping change the times without the kernel's FUSE inode noticing. Nothing is cached for
                // a new one.
                if below.isWriter, !isNew { session?.notifier.invalidateInode(node, offset: -1) }
            }
            return OpenedFile(handle: files.insert(item), flags: Self.flags(mode), backing: backing)
        } catch {
            Glibc.close(below.descriptor)
            replica.closed(NodeNumber.number(node), isWriter: below.isWriter)
            throw error
        }
    }

    /// No flush: nothing waits for close(2), and the change is scheduled when the file is released.
    private static func flags(_ mode: IOMode) -> OpenedFile.Flags {
        switch mode {
        case .passthrough: .noFlush
        // Changes behind the kernel's back are invalidated, so its cached pages are valid.
        case .cached: [.keepCache, .noFlush]
        case .direct: [.directIO, .parallelDirectWrites, .noFlush]
        }
    }
}
