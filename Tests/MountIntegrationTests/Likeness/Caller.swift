import CLinux
import Glibc

/// Makes system calls below a folder and reports the outcome of each: result, errno, and output.
final class Caller {
    private let root: Int32
    private var files: [Int32] = [-1, -1, -1, -1]

    init(_ root: String) {
        self.root = Glibc.open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    }

    deinit {
        for file in files where file >= 0 { close(file) }
        close(root)
    }

    /// Makes a call.
    func make(_ call: Call) -> String {
        switch call {
        case .open(let slot, let name, let flags, let mode): openFile(slot, name, flags, mode)
        case .close(let slot): closeFile(slot)
        case .write(let slot, let bytes, let offset): writeFile(slot, bytes, offset)
        case .read(let slot, let count, let offset): readFile(slot, count, offset)
        case .seek(let slot, let offset, let whence): outcome(lseek(files[slot], offset, whence))
        case .resize(let slot, let size): outcome(ftruncate(files[slot], size))
        case .allocate(let slot, let mode, let offset, let length):
            outcome(CLinux.fallocate(files[slot], mode, Int64(offset), Int64(length)))
        case .copy(let from, let into, let count): copy(from, into, count)
        case .sync(let slot): outcome(fsync(files[slot]))
        case .status(let slot): status { fstat(files[slot], &$0) }
        case .names(let call): make(call)
        }
    }

    private func make(_ call: NameCall) -> String {
        switch call {
        case .mkdir(let name, let mode): name.with { outcome(mkdirat(root, $0, mode)) }
        case .rmdir(let name): name.with { outcome(unlinkat(root, $0, Int32(AT_REMOVEDIR))) }
        case .unlink(let name): name.with { outcome(unlinkat(root, $0, 0)) }
        case .rename(let old, let new, let flags):
            old.with { old in new.with { outcome(renameat2(root, old, root, $0, flags)) } }
        case .link(let old, let new): old.with { old in new.with { outcome(linkat(root, old, root, $0, 0)) } }
        case .symlink(let target, let name):
            target.with { target in name.with { outcome(symlinkat(target, root, $0)) } }
        case .mknod(let name, let mode): name.with { outcome(mknodat(root, $0, mode, 0)) }
        case .readlink(let name): readlink(name)
        case .status(let name): name.with { path in status { fstatat(root, path, &$0, AT_SYMLINK_NOFOLLOW) } }
        case .target(let name): name.with { path in status { fstatat(root, path, &$0, 0) } }
        case .chmod(let name, let mode): name.with { outcome(fchmodat(root, $0, mode, 0)) }
        case .chown(let name, let user, let group):
            name.with { outcome(fchownat(root, $0, user, group, AT_SYMLINK_NOFOLLOW)) }
        case .times(let name, let access, let modification):
            name.with { outcome(utimensat(root, $0, [access, modification], AT_SYMLINK_NOFOLLOW)) }
        case .access(let name, let mode): name.with { outcome(faccessat(root, $0, mode, 0)) }
        case .list(let name): list(name)
        case .setXattr(let name, let key, let value, let flags): setXattr(name, key, value, flags)
        case .getXattr(let name, let key): getXattr(name, key)
        case .removeXattr(let name, let key): xattr(name) { outcome(fremovexattr($0, key)) }
        case .listXattrs(let name): listXattrs(name)
        }
    }

    private func outcome(_ result: some SignedInteger) -> String {
        result < 0 ? String(cString: strerror(errno)) : "\(result)"
    }

    // MARK: Files

    private func openFile(_ slot: Int, _ name: Name, _ flags: Int32, _ mode: UInt32) -> String {
        if files[slot] >= 0 { _ = Glibc.close(files[slot]) }
        files[slot] = name.with { openat(root, $0, flags | O_CLOEXEC | O_NONBLOCK, mode) }
        return files[slot] < 0 ? outcome(files[slot]) : "open"
    }

    private func closeFile(_ slot: Int) -> String {
        defer { files[slot] = -1 }
        return outcome(Glibc.close(files[slot]))
    }

    private func writeFile(_ slot: Int, _ bytes: [UInt8], _ offset: Int?) -> String {
        outcome(
            offset.map { pwrite(files[slot], bytes, bytes.count, $0) } ?? Glibc.write(files[slot], bytes, bytes.count))
    }

    private func readFile(_ slot: Int, _ count: Int, _ offset: Int?) -> String {
        var bytes = [UInt8](repeating: 0, count: count)
        let got = offset.map { pread(files[slot], &bytes, count, $0) } ?? Glibc.read(files[slot], &bytes, count)
        return outcome(got) + " \(bytes.prefix(max(0, got)).reduce(UInt64(7)) { $0 &* 31 &+ UInt64($1) })"
    }

    private func copy(_ from: Int, _ into: Int, _ count: Int) -> String {
        // The size of each copy may differ, but not the sum.
        var sum = 0
        while sum < count {
            let copied = copy_file_range(files[from], nil, files[into], nil, count - sum, 0)
            if copied < 0 { return outcome(copied) }
            if copied == 0 { break }
            sum += copied
        }
        return "\(sum)"
    }

    private func status(_ call: (inout stat) -> Int32) -> String {
        var status = stat()
        guard call(&status) == 0 else { return outcome(-1) }
        let size = status.st_mode & S_IFMT == S_IFDIR ? 0 : status.st_size
        let time = status.st_mtim.tv_sec < 2_000_000 ? "\(status.st_mtim)" : ""
        return "\(String(status.st_mode, radix: 8)) links \(status.st_nlink) size \(size) "
            + "\(status.st_uid):\(status.st_gid) \(time)"
    }

    // MARK: Names

    private func readlink(_ name: Name) -> String {
        var text = [UInt8](repeating: 0, count: 5000)
        let count = text.count
        return name.with { path in
            let length = text.withUnsafeMutableBytes { buffer in
                readlinkat(root, path, buffer.assumingMemoryBound(to: CChar.self).baseAddress!, count)
            }
            return outcome(length) + " \(text.prefix(max(0, length)))"
        }
    }

    private func list(_ name: Name) -> String {
        let file = name.with { openat(root, $0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard file >= 0, let folder = fdopendir(file) else { return outcome(-1) }
        defer { closedir(folder) }
        var lines: [String] = []
        while let entry = readdir(folder) {
            let bytes = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            lines.append("\(bytes.map { String($0, radix: 16) }.joined()):\(entry.pointee.d_type)")
        }
        return lines.sorted().joined(separator: " ")
    }

    private func xattr(_ name: Name, _ body: (Int32) -> String) -> String {
        let file = name.with { openat(root, $0, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) }
        guard file >= 0 else { return outcome(file) }
        defer { Glibc.close(file) }
        return body(file)
    }

    private func setXattr(_ name: Name, _ key: String, _ value: [UInt8], _ flags: Int32) -> String {
        xattr(name) { outcome(fsetxattr($0, key, value, value.count, flags)) }
    }

    private func getXattr(_ name: Name, _ key: String) -> String {
        xattr(name) { file in
            var value = [UInt8](repeating: 0, count: 4096)
            let length = fgetxattr(file, key, &value, value.count)
            return outcome(length) + " \(value.prefix(max(0, length)))"
        }
    }

    private func listXattrs(_ name: Name) -> String {
        xattr(name) { file in
            var names = [CChar](repeating: 0, count: 4096)
            let length = flistxattr(file, &names, names.count)
            if length < 0 { return outcome(length) }
            let texts = names.prefix(length).split(separator: 0).map { "\($0)" }
            return texts.sorted().joined(separator: " ")
        }
    }
}
