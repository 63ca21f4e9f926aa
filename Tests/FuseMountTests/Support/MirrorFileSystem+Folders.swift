import CLinux
import Glibc
import SystemPackage

@testable import FuseMount

extension MirrorFileSystem {
    func opendir(_ context: RequestContext, node: NodeID, flags: Int32, reply: consuming OpenReply) {
        calls.note("opendir")
        let file = Glibc.open(link(node), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard file >= 0, let folder = fdopendir(file) else { return reply.fail(Errno(rawValue: errno)) }
        reply.send(OpenedFile(handle: FileHandle(UInt(bitPattern: folder))))
    }

    private func stream(_ handle: FileHandle) -> OpaquePointer { OpaquePointer(bitPattern: UInt(handle))! }

    func readdir(
        _ context: RequestContext, node: NodeID, handle: FileHandle, offset: Int64, size: Int,
        reply: consuming DirectoryReply
    ) {
        calls.note("readdir")
        var buffer = DirectoryBuffer(capacity: size)
        seekdir(stream(handle), Int(offset))
        while let entry = Glibc.readdir(stream(handle)) {
            let mode = UInt32(entry.pointee.d_type) << 12
            let next = Int64(entry.pointee.d_off)
            let ino = UInt64(entry.pointee.d_ino)
            let fits = withName(entry) { buffer.add(name: $0, ino: ino, mode: mode, next: next) }
            if !fits { break }
        }
        reply.send(buffer)
    }

    func readdirplus(
        _ context: RequestContext, node: NodeID, handle: FileHandle, offset: Int64, size: Int,
        reply: consuming DirectoryReply
    ) {
        calls.note("readdirplus")
        var buffer = DirectoryBuffer(capacity: size)
        seekdir(stream(handle), Int(offset))
        while let entry = Glibc.readdir(stream(handle)) {
            let next = Int64(entry.pointee.d_off)
            let fits = withName(entry) { name in
                // A name that vanished meanwhile is left out.
                guard var answer = try? self.entry(node, name) else { return true }
                if name[0] == 0x2e { answer.node = 0 }
                return buffer.add(name: name, entry: answer, next: next)
            }
            if !fits { break }
        }
        reply.send(buffer)
    }

    private func withName(_ entry: UnsafeMutablePointer<dirent>, _ body: (UnsafePointer<CChar>) -> Bool) -> Bool {
        withUnsafeBytes(of: &entry.pointee.d_name) { body($0.assumingMemoryBound(to: CChar.self).baseAddress!) }
    }

    func releasedir(_ context: RequestContext, node: NodeID, handle: FileHandle, reply: consuming EmptyReply) {
        calls.note("releasedir")
        closedir(stream(handle))
        reply.succeed()
    }

    func fsyncdir(
        _ context: RequestContext, node: NodeID, handle: FileHandle, dataOnly: Bool, reply: consuming EmptyReply
    ) {
        calls.note("fsyncdir")
        reply.send(Glibc.fsync(dirfd(stream(handle))))
    }

    func getlk(
        _ context: RequestContext, node: NodeID, handle: FileHandle, lock: FileLock, reply: consuming LockReply
    ) {
        calls.note("getlk")
        var free = lock
        free.range.l_type = Int16(F_UNLCK)
        reply.send(free)
    }

    func setlk(
        _ context: RequestContext, node: NodeID, handle: FileHandle, lock: FileLock, wait: Bool,
        reply: consuming EmptyReply
    ) {
        calls.note(wait ? "setlkw" : "setlk")
        reply.succeed()
    }

    func flock(
        _ context: RequestContext, node: NodeID, handle: FileHandle, owner: UInt64, operation: Int32,
        reply: consuming EmptyReply
    ) {
        calls.note("flock")
        reply.send(lockWhole(Int32(handle), operation))
    }
}
