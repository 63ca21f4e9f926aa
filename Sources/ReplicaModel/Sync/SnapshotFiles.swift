internal import CLinux
internal import Glibc
internal import SystemPackage

/// Where the snapshots of contents are: small ones in memory, in files that are used again, for to make a file and to
/// remove it takes longer than to fill it; others in files without a name, as clones where the filesystem below can.
final class SnapshotFiles: Sendable {
    /// The most bytes that are kept in memory.
    private static let largestInMemory: Int64 = 64 << 10
    /// How many files in memory wait to be used again.
    private static let mostIdle = 16
    private let folder: FilePath
    private let idle = Locked<[Int32]>([])

    /// - Parameter folder: On the filesystem of the files that snapshots are made of.
    init(in folder: FilePath) {
        self.folder = folder
    }

    deinit {
        for file in idle.withLock({ $0 }) { close(file) }
    }

    /// A copy of an open file of `size` bytes, its offset at the start. Shorter when the file is by now.
    /// - Returns: A descriptor that is to be given to ``release(_:size:)``.
    func make(of source: Int32, size: Int64) throws(Errno) -> Int32 {
        let isSmall = size <= Self.largestInMemory
        let copy = try isSmall ? fileInMemory() : fileOnDisk()
        do throws(Errno) {
            try isSmall ? fill(copy, source, Int(size)) : share(copy, source, size)
            return copy
        } catch {
            close(copy)
            throw error
        }
    }

    /// Ends the use of a snapshot.
    func release(_ file: Int32, size: Int64) {
        let isKept = idle.withLock { idle in
            guard size <= Self.largestInMemory, idle.count < Self.mostIdle else { return false }
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

    private func fill(_ copy: Int32, _ source: Int32, _ size: Int) throws(Errno) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, size), alignment: 1)
        defer { buffer.deallocate() }
        let count = try Errno.check(pread(source, buffer.baseAddress, size, 0))
        try StagingSink.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]), to: copy, at: 0)
        try Errno.check(ftruncate(copy, count))
        try Errno.check(lseek(copy, 0, SEEK_SET))
    }

    private func share(_ copy: Int32, _ source: Int32, _ size: Int64) throws(Errno) {
        guard ioctl(copy, UInt(CL_FICLONE), source) != 0 else { return }
        var (from, into): (Int64, Int64) = (0, 0)
        while into < size {
            let count = copy_file_range(source, &from, copy, &into, 1 << 30, 0)
            if count == 0 { return }
            guard count > 0 || Errno.last == .interrupted else { throw .last }
        }
    }
}
