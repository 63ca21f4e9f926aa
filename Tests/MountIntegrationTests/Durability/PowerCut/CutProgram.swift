import CLinux
import Glibc
import ReplicaTestSupport

/// A program that works in its own folder on a mount, and records what was acknowledged. Large: a method for each call that it makes.
///
/// One thread at a time uses it.
final class CutProgram: @unchecked Sendable {
    /// The record, and the record if the unanswered call was executed.
    private(set) var told = CutRecord()
    private(set) var attempted = CutRecord()
    /// Errors that the end of the daemon does not explain.
    private(set) var failures: [String] = []
    let folder: String
    private let mount: String
    /// The number of the mount's domain. Each domain determines itself which names are one file.
    let domain: Int
    var random: SeededGenerator
    /// The number of created names.
    var made = 0

    /// - Parameter folder: Its name in the mount, a single component.
    init(_ mount: String, _ domain: Int, folder: String, seed: UInt64) {
        (self.mount, self.domain, self.folder) = (mount, domain, folder)
        random = SeededGenerator(seed)
    }

    /// The daemon is gone, or a call failed.
    struct Ended: Error {}

    /// `replica wait` has ended.
    func wait() {
        told.wait()
        attempted = told
    }

    /// The current state becomes the record.
    func learn(_ found: FoundTree) {
        told = CutRecord(found: found, below: folder)
        attempted = told
    }

    func path(_ name: String) -> String { "\(mount)/\(name)" }

    /// Makes one system call that has `effect` on the record if it succeeds.
    @discardableResult
    func call(_ what: String, _ result: @autoclosure () -> Int, _ effect: (inout CutRecord) -> Void) throws -> Int {
        var after = told
        effect(&after)
        // If it ends in between, the result is unknown.
        attempted = after
        let value = result()
        if value >= 0 {
            told = after
            return value
        }
        let error = errno
        if !isOfAnEnd(error) {
            failures.append("\(what): \(String(cString: strerror(error)))")
            attempted = told
        }
        throw Ended()
    }

    /// The same for a confirming call: without an answer nothing is confirmed.
    private func confirm(
        _ what: String, _ result: @autoclosure () -> Int, _ effect: (inout CutRecord) -> Void
    ) throws {
        try call(what, result()) { _ in }
        effect(&told)
        attempted = told
    }

    /// Whether the daemon's end explains an error. Over rings the kernel also answers ECANCELED and EINTR then, which
    /// prove nothing by themselves.
    private func isOfAnEnd(_ error: Int32) -> Bool {
        var last = error
        while last == ECANCELED || last == EINTR { last = access(path("never made"), F_OK) == 0 ? 0 : errno }
        return last == ENOTCONN || last == ECONNABORTED
    }

    private func withFile(
        _ name: String, _ flags: Int32, _ effect: (inout CutRecord) -> Void = { _ in }, _ body: (Int32) throws -> Void
    ) throws {
        let opened = try call("open \(name)", Int(open(path(name), flags | O_CLOEXEC, 0o644)), effect)
        let file = Int32(opened)
        defer { close(file) }
        try body(file)
    }

    // MARK: Names

    func makeFolder(_ name: String) throws {
        try call("mkdir \(name)", Int(mkdir(path(name), 0o755))) { $0.makeFolder(name) }
    }

    func makeLink(_ name: String) throws {
        let target = "target of \(name) \(random.below(1_000_000))"
        try call("symlink \(name)", Int(symlink(target, path(name)))) { $0.place(.symlink(target), at: name) }
    }

    func link(_ old: String, _ new: String) throws {
        try call("link \(old) \(new)", Int(Glibc.link(path(old), path(new)))) { $0.place($0.present[old], at: new) }
    }

    func rename(_ old: String, _ new: String) throws {
        try call("rename \(old) \(new)", Int(Glibc.rename(path(old), path(new)))) { $0.move(old, to: new) }
    }

    func unlink(_ name: String) throws {
        try call("unlink \(name)", Int(Glibc.unlink(path(name)))) { $0.place(nil, at: name) }
    }

    func removeFolder(_ name: String) throws {
        try call("rmdir \(name)", Int(rmdir(path(name)))) { $0.place(nil, at: name) }
    }

    // MARK: Bytes

    func create(_ name: String, _ count: Int) throws {
        let make = { (record: inout CutRecord) in record.makeFile(name) }
        try withFile(name, O_WRONLY | O_CREAT | O_EXCL, make) { try write(count, at: 0, to: name, $0, after: .now) }
    }

    /// Truncates the file and rewrites it from the beginning.
    func rewrite(_ name: String, _ count: Int) throws {
        let empty = { (record: inout CutRecord) in record.write([], to: name) }
        try withFile(name, O_WRONLY | O_TRUNC, empty) { try write(count, at: 0, to: name, $0, after: .now) }
    }

    func append(_ count: Int, to name: String) throws {
        try withFile(name, O_WRONLY) { try write(count, at: told.file(name)!.content.count, to: name, $0) }
    }

    func overwrite(_ count: Int, at offset: Int, of name: String) throws {
        try withFile(name, O_WRONLY) { try write(count, at: offset, to: name, $0) }
    }

    /// - Parameter begin: When it was truncated.
    private func write(
        _ count: Int, at offset: Int, to name: String, _ file: Int32, after begin: ContinuousClock.Instant? = nil
    ) throws {
        let bytes = random.text(count)
        let content = Self.content(told.file(name)!.content, with: bytes, at: offset)
        let written = try call("write \(name)", pwrite(file, bytes, count, offset)) { $0.write(content, to: name) }
        guard written == count else {
            failures.append("write \(name): \(written) of \(count) bytes")
            throw Ended()
        }
        // Only a pause of the program's thread makes it visible as empty.
        let isPassing = begin.map { .now - $0 < .milliseconds(50) } ?? false
        if isPassing { told.forgetPassing(name) }
        attempted = told
    }

    private static func content(_ old: [UInt8], with bytes: [UInt8], at offset: Int) -> [UInt8] {
        var content = old + [UInt8](repeating: 0, count: max(0, offset + bytes.count - old.count))
        content.replaceSubrange(offset..<offset + bytes.count, with: bytes)
        return content
    }

    func truncate(_ name: String, to size: Int) throws {
        try call("truncate \(name)", Int(Glibc.truncate(path(name), size))) { record in
            let old = record.file(name)!.content
            record.write(Array(old.prefix(size)) + [UInt8](repeating: 0, count: max(0, size - old.count)), to: name)
        }
    }

    /// Space for more at a file's end, which reads as zeros.
    func allocate(_ count: Int, after name: String) throws {
        let old = told.file(name)!.content
        try withFile(name, O_WRONLY) { file in
            try call("fallocate \(name)", Int(CLinux.fallocate(file, 0, Int64(old.count), Int64(count)))) {
                $0.write(old + [UInt8](repeating: 0, count: count), to: name)
            }
        }
    }

    func punch(_ count: Int, at offset: Int, of name: String) throws {
        var content = told.file(name)!.content
        for index in offset..<min(content.count, offset + count) { content[index] = 0 }
        let mode = CL_FALLOC_FL_KEEP_SIZE | CL_FALLOC_FL_PUNCH_HOLE
        try withFile(name, O_WRONLY) { file in
            try call("fallocate \(name)", Int(CLinux.fallocate(file, Int32(mode), Int64(offset), Int64(count)))) {
                $0.write(content, to: name)
            }
        }
    }

    /// - Parameter isSynced: Whether msync(2) follows, which syncs as fdatasync(2).
    func writeMapped(_ count: Int, at offset: Int, of name: String, isSynced: Bool) throws {
        let size = told.file(name)!.content.count
        let bytes = random.text(count)
        let content = Self.content(told.file(name)!.content, with: bytes, at: offset)
        try withFile(name, O_RDWR) { file in
            let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
            try call("mmap \(name)", memory == MAP_FAILED ? -1 : 0) { _ in }
            defer { munmap(memory!, size) }
            try call("a store to \(name)", Self.store(bytes, memory! + offset)) { $0.write(content, to: name) }
            guard isSynced else { return }
            try confirm("msync \(name)", Int(msync(memory!, size, MS_SYNC))) { $0.sync(name, withAttributes: false) }
        }
    }

    private static func store(_ bytes: [UInt8], _ memory: UnsafeMutableRawPointer) -> Int {
        memcpy(memory, bytes, bytes.count)
        return 0
    }

    // MARK: Attributes

    func mark(_ name: String) throws {
        let value = Array("mark \(random.below(1_000_000))".utf8)
        try call("setxattr \(name)", Int(setxattr(path(name), CutRecord.attribute, value, value.count, 0))) { record in
            record.set(CutRecord.Attributes(mode: record.file(name)!.attributes.last!.mode, mark: value), of: name)
        }
    }

    func setMode(_ mode: UInt32, of name: String) throws {
        try call("chmod \(name)", Int(chmod(path(name), mode))) { record in
            record.set(CutRecord.Attributes(mode: mode, mark: record.file(name)!.attributes.last!.mark), of: name)
        }
    }

    // MARK: Syncs

    func sync(_ name: String, withAttributes: Bool) throws {
        let what = withAttributes ? "fsync" : "fdatasync"
        try withFile(name, O_RDWR) { file in
            try confirm("\(what) \(name)", Int(withAttributes ? fsync(file) : fdatasync(file))) {
                $0.sync(name, withAttributes: withAttributes)
            }
        }
    }

    /// The effect of sync(2) on the disk of the tree. The domain does not learn of it.
    /// - Parameter disk: The disk's folder.
    func syncDisk(_ disk: String) throws {
        let file = Int32(try call("open \(disk)", Int(open(disk, O_RDONLY | O_DIRECTORY | O_CLOEXEC))) { _ in })
        defer { close(file) }
        try confirm("syncfs \(disk)", Int(syncfs(file))) { $0.syncDisk() }
    }

    func syncFolder(_ name: String) throws {
        try withFile(name, O_RDONLY | O_DIRECTORY) { file in
            try confirm("fsync \(name)", Int(fsync(file))) { $0.syncFolder(name) }
        }
    }
}

extension SeededGenerator {
    /// Bytes without zeros, so that a zero shows a loss.
    mutating func text(_ count: Int) -> [UInt8] { bytes(count).map { $0 == 0 ? 1 : $0 } }
}
