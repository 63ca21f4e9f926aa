import CLinux
import Glibc
import SystemPackage
import Threads

@testable import FuseMount

extension MirrorFileSystem {
    func getattr(_ context: RequestContext, node: NodeID, handle: FileHandle?, reply: consuming AttributesReply) {
        calls.note("getattr")
        answer(node, reply)
    }

    private func answer(_ node: NodeID, _ reply: consuming AttributesReply) {
        do {
            reply.send(try attributes(descriptor(node)), timeout: timeout.withLock { $0 })
        } catch {
            reply.fail(error)
        }
    }

    func statx(_ context: RequestContext, node: NodeID, handle: FileHandle?, reply: consuming BirthReply) {
        calls.note("statx")
        var full = CLinux.cl_statx()
        let found = cl_statx_of(descriptor(node), "", CL_AT_EMPTY_PATH, UInt32(CL_STATX_ALL), &full) == 0
        // Why it failed makes no difference to any test.
        guard found, let attributes = try? attributes(descriptor(node)) else { return reply.fail(.ioError) }
        let birth = Glibc.timespec(tv_sec: Int(full.btime.seconds), tv_nsec: Int(full.btime.nanoseconds))
        reply.send(BirthStatus(attributes: attributes, birth: birth, timeout: timeout.withLock { $0 }))
    }

    func setattr(
        _ context: RequestContext, node: NodeID, handle: FileHandle?, changes: AttributeChanges,
        reply: consuming AttributesReply
    ) {
        calls.note("setattr")
        let path = link(node)
        var result: Int32 = 0
        if changes.uid != nil || changes.gid != nil {
            result = Glibc.chown(path, changes.uid ?? .max, changes.gid ?? .max)
        }
        if result == 0, let mode = changes.mode { result = Glibc.chmod(path, mode) }
        if result == 0, let size = changes.size { result = Glibc.truncate(path, off_t(size)) }
        if result == 0, changes.atime != nil || changes.mtime != nil {
            let times = [spec(changes.atime), spec(changes.mtime)]
            result = utimensat(AT_FDCWD, path, times, 0)
        }
        if result < 0 { reply.fail(Errno(rawValue: errno)) } else { answer(node, reply) }
    }

    private func spec(_ time: AttributeChanges.Time?) -> Glibc.timespec {
        switch time {
        case .at(let time): time
        case .now: Glibc.timespec(tv_sec: 0, tv_nsec: (1 << 30) - 1)
        case nil: Glibc.timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2)
        }
    }

    func access(_ context: RequestContext, node: NodeID, mask: Int32, reply: consuming EmptyReply) {
        calls.note("access")
        reply.send(Glibc.access(link(node), mask))
    }

    func statfs(_ context: RequestContext, node: NodeID, reply: consuming StatisticsReply) {
        calls.note("statfs")
        var status = Glibc.statvfs()
        guard fstatvfs(descriptor(node), &status) == 0 else { return reply.fail(Errno(rawValue: errno)) }
        reply.send(Statistics(status))
    }

    func getxattr(
        _ context: RequestContext, node: NodeID, name: UnsafePointer<CChar>, size: Int,
        reply: consuming AttributeValueReply
    ) {
        calls.note("getxattr")
        var value = [UInt8](repeating: 0, count: 1 << 16)
        let length = CLinux.getxattr(link(node), name, &value, value.count)
        guard length >= 0 else { return reply.fail(Errno(rawValue: errno)) }
        reply.send(Array(value[0..<length]), size: size)
    }

    func setxattr(
        _ context: RequestContext, node: NodeID, name: UnsafePointer<CChar>, value: UnsafeRawBufferPointer,
        flags: Int32, killsSetGroupID: Bool, reply: consuming EmptyReply
    ) {
        calls.note(killsSetGroupID ? "setxattr that kills set-group-ID" : "setxattr")
        reply.send(CLinux.setxattr(link(node), name, value.baseAddress, value.count, flags))
    }

    func listxattr(_ context: RequestContext, node: NodeID, size: Int, reply: consuming AttributeValueReply) {
        calls.note("listxattr")
        var value = [UInt8](repeating: 0, count: 1 << 16)
        let length = value.withUnsafeMutableBytes { CLinux.listxattr(link(node), $0.baseAddress, $0.count) }
        guard length >= 0 else { return reply.fail(Errno(rawValue: errno)) }
        reply.send(Array(value[0..<length]), size: size)
    }

    func removexattr(
        _ context: RequestContext, node: NodeID, name: UnsafePointer<CChar>, reply: consuming EmptyReply
    ) {
        calls.note("removexattr")
        reply.send(CLinux.removexattr(link(node), name))
    }
}
