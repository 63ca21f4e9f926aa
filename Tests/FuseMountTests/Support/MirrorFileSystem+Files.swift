import CLinux
import Glibc
import SystemPackage

@testable import FuseMount

extension MirrorFileSystem {
    func open(_ context: RequestContext, node: NodeID, options: OpenOptions, reply: consuming OpenReply) {
        calls.note("open")
        let file = Glibc.open(link(node), options.flags & ~O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { return reply.fail(Errno(rawValue: errno)) }
        reply.send(opened(node, file))
    }

    func create(
        _ context: RequestContext, parent: NodeID, name: UnsafePointer<CChar>, mode: UInt32, options: OpenOptions,
        reply: consuming CreateReply
    ) {
        calls.note("create")
        let file = openat(descriptor(parent), name, options.flags | O_CREAT | O_CLOEXEC, mode & ~context.umask)
        guard file >= 0 else { return reply.fail(Errno(rawValue: errno)) }
        do {
            let entry = try entry(parent, name)
            reply.send(entry, opened(entry.node, file))
        } catch {
            reply.fail(error)
        }
    }

    func tmpfile(
        _ context: RequestContext, parent: NodeID, mode: UInt32, options: OpenOptions, reply: consuming CreateReply
    ) {
        calls.note("tmpfile")
        let flags = options.flags & ~O_CREAT | CL_O_TMPFILE | O_CLOEXEC
        let file = Glibc.open(link(parent), flags, mode & ~context.umask)
        guard file >= 0 else { return reply.fail(Errno(rawValue: errno)) }
        let second = Glibc.open("/proc/self/fd/\(file)", CL_O_PATH | O_CLOEXEC)
        do {
            let entry = try entry(adopting: second)
            reply.send(entry, opened(entry.node, file))
        } catch {
            reply.fail(error)
        }
    }

    func read(
        _ context: RequestContext, node: NodeID, handle: FileHandle, offset: Int64, size: Int,
        reply: consuming DataReply
    ) {
        calls.note("read")
        reply.send(descriptor: Int32(handle), offset: offset, count: size)
    }

    func write(
        _ context: RequestContext, node: NodeID, handle: FileHandle, offset: Int64, buffer: UnsafeRawBufferPointer,
        options: WriteOptions, reply: consuming CountReply
    ) {
        calls.note("write")
        if options.killPrivileges { calls.note("write that kills privileges") }
        let written = pwrite(Int32(handle), buffer.baseAddress, buffer.count, off_t(offset))
        if written < 0 { reply.fail(Errno(rawValue: errno)) } else { reply.send(written) }
    }

    func flush(
        _ context: RequestContext, node: NodeID, handle: FileHandle, lockOwner: UInt64, reply: consuming EmptyReply
    ) {
        calls.note("flush")
        reply.succeed()
    }

    func release(
        _ context: RequestContext, node: NodeID, handle: FileHandle, flags: Int32, reply: consuming EmptyReply
    ) {
        close(Int32(handle))
        if usesBacking { closed(node) }
        calls.note("release")
        reply.succeed()
    }

    func fsync(
        _ context: RequestContext, node: NodeID, handle: FileHandle, dataOnly: Bool, reply: consuming EmptyReply
    ) {
        calls.note(dataOnly ? "fdatasync" : "fsync")
        reply.send(dataOnly ? Glibc.fdatasync(Int32(handle)) : Glibc.fsync(Int32(handle)))
    }

    func fallocate(
        _ context: RequestContext, node: NodeID, handle: FileHandle, mode: Int32, offset: Int64, length: Int64,
        reply: consuming EmptyReply
    ) {
        calls.note("fallocate")
        reply.send(CLinux.fallocate(Int32(handle), mode, offset, length))
    }

    func lseek(
        _ context: RequestContext, node: NodeID, handle: FileHandle, offset: Int64, whence: Int32,
        reply: consuming OffsetReply
    ) {
        calls.note("lseek")
        let found = Glibc.lseek(Int32(handle), off_t(offset), whence)
        if found < 0 { reply.fail(Errno(rawValue: errno)) } else { reply.send(Int64(found)) }
    }

    func copyRange(
        _ context: RequestContext, from source: FileRange, to destination: FileRange, length: Int, flags: Int32,
        reply: consuming CountReply
    ) {
        calls.note("copyRange")
        var from = source.offset
        var to = destination.offset
        let copied = CLinux.copy_file_range(
            Int32(source.handle), &from, Int32(destination.handle), &to, length, UInt32(flags))
        if copied < 0 { reply.fail(Errno(rawValue: errno)) } else { reply.send(copied) }
    }
}
