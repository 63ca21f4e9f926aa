import CLinux
import Glibc

/// Makes system calls below a folder and writes down how they ended: what two filesystems are compared by. Large: a method for
/// each system call.
final class Probe {
    let root: String
    private(set) var log: [String] = []

    init(_ root: String) { self.root = root }

    func path(_ name: String) -> String { name.isEmpty ? root : root + "/" + name }

    /// Makes a call and notes its result, or its errno.
    @discardableResult
    func call(_ what: String, hidesResult: Bool = false, _ body: () -> Int) -> Int {
        errno = 0
        let result = body()
        let outcome = result < 0 ? String(cString: strerror(errno)) : hidesResult ? "done" : String(result)
        log.append("\(what): \(outcome)")
        return result
    }

    func note(_ what: String) { log.append(what) }

    // MARK: Names

    func mkdir(_ name: String, _ mode: UInt32 = 0o755) {
        call("mkdir \(name)") { Int(Glibc.mkdir(path(name), mode)) }
    }
    func rmdir(_ name: String) { call("rmdir \(name)") { Int(Glibc.rmdir(path(name))) } }
    func unlink(_ name: String) { call("unlink \(name)") { Int(Glibc.unlink(path(name))) } }
    func link(_ old: String, _ new: String) {
        call("link \(old) \(new)") { Int(Glibc.link(path(old), path(new))) }
    }
    func symlink(_ target: String, _ name: String) {
        call("symlink \(name)") { Int(Glibc.symlink(target, path(name))) }
    }
    func mknod(_ name: String, _ mode: UInt32, _ device: UInt = 0) {
        call("mknod \(name)") { Int(Glibc.mknod(path(name), mode, device)) }
    }
    func rename(_ old: String, _ new: String, flags: UInt32 = 0) {
        call("rename \(old) \(new) \(flags)") { Int(renameat2(AT_FDCWD, path(old), AT_FDCWD, path(new), flags)) }
    }
    func readlink(_ name: String) {
        var text = [CChar](repeating: 0, count: 5000)
        let length = call("readlink \(name)") { Glibc.readlink(path(name), &text, text.count) }
        if length > 0 { note(String(decoding: text.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)) }
    }

    // MARK: Attributes

    func stat(_ name: String) {
        var status = Glibc.stat()
        guard call("stat \(name)", { Int(lstat(path(name), &status)) }) == 0 else { return }
        note(Self.describe(status))
    }
    func fstat(_ file: Int32) {
        var status = Glibc.stat()
        guard call("fstat", { Int(Glibc.fstat(file, &status)) }) == 0 else { return }
        note(Self.describe(status))
    }
    static func describe(_ status: Glibc.stat) -> String {
        let mode = String(status.st_mode, radix: 8)
        return "mode \(mode) size \(status.st_size) links \(status.st_nlink) uid \(status.st_uid) "
            + "gid \(status.st_gid) rdev \(status.st_rdev)"
    }
    func chmod(_ name: String, _ mode: UInt32) {
        call("chmod \(name)") { Int(Glibc.chmod(path(name), mode)) }
    }
    func chown(_ name: String, _ user: UInt32, _ group: UInt32) {
        call("chown \(name)") { Int(lchown(path(name), user, group)) }
    }
    func truncate(_ name: String, _ size: Int) {
        call("truncate \(name) \(size)") { Int(Glibc.truncate(path(name), size)) }
    }
    func access(_ name: String, _ mode: Int32) {
        call("access \(name) \(mode)") { Int(faccessat(AT_FDCWD, path(name), mode, AT_EACCESS)) }
    }
    func setTimes(_ name: String, _ seconds: Int, _ nanoseconds: Int) {
        let times = [timespec(tv_sec: seconds, tv_nsec: nanoseconds), timespec(tv_sec: seconds + 1, tv_nsec: 7)]
        call("utimensat \(name)") { Int(utimensat(AT_FDCWD, path(name), times, AT_SYMLINK_NOFOLLOW)) }
        var status = Glibc.stat()
        lstat(path(name), &status)
        note("\(status.st_atim.tv_sec).\(status.st_atim.tv_nsec) \(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)")
    }

    // MARK: Extended attributes

    func setXattr(_ name: String, _ key: String, _ value: String, _ flags: Int32 = 0) {
        call("setxattr \(name) \(key)") { Int(lsetxattr(path(name), key, value, value.utf8.count, flags)) }
    }
    func getXattr(_ name: String, _ key: String, room: Int = 200) {
        var value = [CChar](repeating: 0, count: room + 1)
        let length = call("getxattr \(name) \(key) \(room)") { lgetxattr(path(name), key, &value, room) }
        if length > 0, room > 0 { note(value.withUnsafeBytes { String(decoding: $0.prefix(length), as: UTF8.self) }) }
    }
    func removeXattr(_ name: String, _ key: String) {
        call("removexattr \(name) \(key)") { Int(lremovexattr(path(name), key)) }
    }
    func listXattrs(_ name: String, room: Int = 2000) {
        var list = [CChar](repeating: 0, count: room + 1)
        let length = call("listxattr \(name)") { llistxattr(path(name), &list, room) }
        guard length > 0, room > 0 else { return }
        let names = list.prefix(length).split(separator: 0).map { part in
            String(decoding: part.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        note(names.sorted().joined(separator: " "))
    }

    // MARK: Data

    @discardableResult
    func open(_ name: String, _ flags: Int32, _ mode: UInt32 = 0o644) -> Int32 {
        Int32(call("open \(name) \(flags)", hidesResult: true) { Int(Glibc.open(path(name), flags, mode)) })
    }
    func close(_ file: Int32) { call("close") { Int(Glibc.close(file)) } }
    func write(_ file: Int32, _ text: String, at offset: Int? = nil) {
        let bytes = Array(text.utf8)
        call("write \(text.prefix(20))") {
            offset.map { pwrite(file, bytes, bytes.count, $0) } ?? Glibc.write(file, bytes, bytes.count)
        }
    }
    func read(_ file: Int32, _ count: Int, at offset: Int? = nil) {
        var bytes = [UInt8](repeating: 0, count: max(1, count))
        let length = call("read \(count)") {
            offset.map { pread(file, &bytes, count, $0) } ?? Glibc.read(file, &bytes, count)
        }
        if length > 0 { note(String(decoding: bytes.prefix(min(length, 60)), as: UTF8.self)) }
    }
    func seek(_ file: Int32, _ offset: Int, _ whence: Int32) {
        call("lseek \(offset) \(whence)") { lseek(file, offset, whence) }
    }
    func allocate(_ file: Int32, _ mode: Int32, _ offset: Int64, _ length: Int64) {
        call("fallocate \(mode) \(offset) \(length)") { Int(CLinux.fallocate(file, mode, offset, length)) }
    }
    func list(_ name: String) {
        guard let folder = opendir(path(name)) else { return note("opendir \(name): \(errno)") }
        var names: [String] = []
        while let entry = readdir(folder) {
            withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { names.append(String(cString: $0)) }
            }
        }
        closedir(folder)
        note("list \(name): \(names.sorted())")
    }
}
