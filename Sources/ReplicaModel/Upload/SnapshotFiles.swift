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
    let read: Read
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
}
