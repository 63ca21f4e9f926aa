import CLinux
import Glibc
import SystemPackage

@testable import FuseMount

extension Reply where Answer == Entry {
    /// Answers an entry or the error in finding it.
    consuming func send(_ find: () throws(Errno) -> Entry) {
        do {
            send(try find())
        } catch {
            fail(error)
        }
    }
}

extension Reply where Answer == Void {
    /// Answers as a system call ended.
    consuming func send(_ result: Int32) {
        if result < 0 { fail(Errno(rawValue: errno)) } else { succeed() }
    }
}

extension MirrorFileSystem {
    func lookup(_ context: RequestContext, parent: NodeID, name: UnsafePointer<CChar>, reply: consuming EntryReply) {
        calls.note("lookup")
        calls.note("lookup " + String(cString: name))
        reply.send { () throws(Errno) in try entry(parent, name) }
    }

    func mknod(
        _ context: RequestContext, parent: NodeID, name: UnsafePointer<CChar>, mode: UInt32, device: UInt64,
        reply: consuming EntryReply
    ) {
        calls.note("mknod")
        guard mknodat(descriptor(parent), name, mode & ~context.umask, dev_t(device)) == 0 else {
            return reply.fail(Errno(rawValue: errno))
        }
        reply.send { () throws(Errno) in try entry(parent, name) }
    }

    func mkdir(
        _ context: RequestContext, parent: NodeID, name: UnsafePointer<CChar>, mode: UInt32,
        reply: consuming EntryReply
    ) {
        calls.note("mkdir")
        guard mkdirat(descriptor(parent), name, mode & ~context.umask) == 0 else {
            return reply.fail(Errno(rawValue: errno))
        }
        reply.send { () throws(Errno) in try entry(parent, name) }
    }

    func symlink(
        _ context: RequestContext, target: UnsafePointer<CChar>, parent: NodeID, name: UnsafePointer<CChar>,
        reply: consuming EntryReply
    ) {
        calls.note("symlink")
        guard symlinkat(target, descriptor(parent), name) == 0 else { return reply.fail(Errno(rawValue: errno)) }
        reply.send { () throws(Errno) in try entry(parent, name) }
    }

    func link(
        _ context: RequestContext, node: NodeID, parent: NodeID, name: UnsafePointer<CChar>,
        reply: consuming EntryReply
    ) {
        calls.note("link")
        guard linkat(AT_FDCWD, link(node), descriptor(parent), name, CL_AT_SYMLINK_FOLLOW) == 0 else {
            return reply.fail(Errno(rawValue: errno))
        }
        reply.send { () throws(Errno) in try entry(parent, name) }
    }

    func unlink(_ context: RequestContext, parent: NodeID, name: UnsafePointer<CChar>, reply: consuming EmptyReply) {
        calls.note("unlink")
        reply.send(unlinkat(descriptor(parent), name, 0))
    }

    func rmdir(_ context: RequestContext, parent: NodeID, name: UnsafePointer<CChar>, reply: consuming EmptyReply) {
        calls.note("rmdir")
        reply.send(unlinkat(descriptor(parent), name, AT_REMOVEDIR))
    }

    func rename(
        _ context: RequestContext, parent: NodeID, name: UnsafePointer<CChar>, newParent: NodeID,
        newName: UnsafePointer<CChar>, flags: RenameFlags, reply: consuming EmptyReply
    ) {
        calls.note("rename")
        reply.send(renameat2(descriptor(parent), name, descriptor(newParent), newName, flags.rawValue))
    }

    func readlink(_ context: RequestContext, node: NodeID, reply: consuming LinkTargetReply) {
        calls.note("readlink")
        var target = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        guard readlinkat(descriptor(node), "", &target, Int(PATH_MAX)) >= 0 else {
            return reply.fail(Errno(rawValue: errno))
        }
        reply.send(target)
    }
}
