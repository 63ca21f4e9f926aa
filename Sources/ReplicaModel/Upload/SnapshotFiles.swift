internal import CLinux
internal import Glibc
internal import SystemPackage
internal import Threads

/// Snapshots of contents: small ones in memory files that are reused, because creating and removing a file takes longer
/// than filling it; others in unnamed files, as clones if the filesystem supports that.
final class SnapshotFiles: Sendable {
    /// pread(2) into a buffer: returns the number of bytes read, 0 at the end of the file, or -1 with errno.
    typealias Read = @Sendable (_ file: Int32, _ into: UnsafeMutableRawBufferPointer, _ offset: Int64) -> Int

    /// The maximum size of a snapshot in memory, in bytes.
    private static let largestInMemory: Int64 = 64 << 10
    /// The maximum number of idle memory files for reuse.
    private static let mostIdle = 16
    private let folder: FilePath
    private let read: Read
    let idle = Locked<[Int32]>([])

    /// - Parameters:
    ///   - folder: A folder on the filesystem of the source files.
    ///   - read: The function that reads files; tests simulate failing disks.
    init(in folder: FilePath, read: @escaping Read = { pread($0, $1.baseAddress, $1.count, Int($2)) }) {
        self.folder = folder
        self.read = read
    }

    deinit {
        for file in idle.withLock({ $0 }) { close(file) }
    }

    /// Copies an open file of `size` bytes; the copy's offset is at the start. The copy is shorter if the file was
    /// truncated.
    /// - Returns: A descriptor, to be passed to ``release(_:size:)``.
    /// - Throws: The errors of reading the file or writing the copy.
    func make(of source: Int32, size: Int64) throws(Errno) -> Int32 {
        let isSmall = size <= Self.largestInMemory
        let copy = try isSmall ? fileInMemory() : fileOnDisk()
        do throws(Errno) {
            let end = try isSmall ? fill(copy, source, 0..<size) : copyAll(copy, source, size)
            try Errno.check(ftruncate(copy, Int(end)))
            try Errno.check(lseek(copy, 0, SEEK_SET))
            return copy
        } catch {
            close(copy)
            throw error
        }
    }

    /// Ends the use of a snapshot.
    /// - Parameter isStillRead: Whether a store's process may still read it: then it must not change.
    func release(_ file: Int32, size: Int64, isStillRead: Bool = false) {
        let isKept = idle.withLock { idle in
            guard !isStillRead, size <= Self.largestInMemory, idle.count < Self.mostIdle else { return false }
            idle.append(file)
            return true
        }
        if !isKept { close(file) }
    }

    private func fileInMemory() throws(Errno) -> Int32 {
        if let file = idle.withLock({ $0.popLast() }) { return file }
        return try Errno.check(memfd_create("snapshot", CL_MFD_CLOEXEC))
    }

    private func fileOnDisk() throws(Errno) -> Int32 {
        try Errno.check(folder.withPlatformString { open($0, CL_O_TMPFILE | O_RDWR | O_CLOEXEC, 0o600) })
    }

    /// Copies `range` by reading it; a read may return fewer bytes than requested.
    /// - Returns: The end of the copy; earlier than the end of the range if the source ends there.
    private func fill(_ copy: Int32, _ source: Int32, _ range: Range<Int64>) throws(Errno) -> Int64 {
        guard !range.isEmpty else { return range.upperBound }
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Int(min(Int64(range.count), Self.atOnce)), alignment: 1)
        defer { buffer.deallocate() }
        var offset = range.lowerBound
        while offset < range.upperBound {
            let wanted = Int(min(range.upperBound - offset, Int64(buffer.count)))
            let count = read(source, UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]), offset)
            if count == 0 { break }
            guard count > 0 else {
                guard Errno.last == .interrupted else { throw .last }
                continue
            }
            try UnsafeRawBufferPointer(rebasing: buffer[..<count]).writeAll(to: copy, at: offset)
            offset += Int64(count)
        }
        return offset
    }

    private static let atOnce: Int64 = 1 << 20

    /// Clones the data in the range, or copies it with its holes.
    /// - Returns: The end of the copy.
    func copyAll(_ copy: Int32, _ source: Int32, _ size: Int64) throws(Errno) -> Int64 {
        if ioctl(copy, UInt(CL_FICLONE), source) == 0 { return size }
        var end: Int64 = 0
        for data in DataRanges(of: source, in: 0..<size) {
            let shared = share(copy, source, data)
            end = try fill(copy, source, shared..<data.upperBound)
            // The source ends here, whatever its reported size.
            if end < data.upperBound { return end }
        }
        return max(end, min(size, try FileStatus(descriptor: source).size))
    }

    /// Lets the filesystem copy a range by itself, as far as possible.
    /// - Returns: The end of the copied range. The rest has to be read, which also reports errors.
    private func share(_ copy: Int32, _ source: Int32, _ range: Range<Int64>) -> Int64 {
        var (from, into) = (range.lowerBound, range.lowerBound)
        while into < range.upperBound {
            let count = copy_file_range(source, &from, copy, &into, Int(min(1 << 30, range.upperBound - into)), 0)
            guard count > 0 || count < 0 && Errno.last == .interrupted else { break }
        }
        return into
    }
}
