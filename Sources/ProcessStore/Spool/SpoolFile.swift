import CLinux
import ChildProcess
import Glibc
import ReplicaModel
import SystemPackage

/// A file of the spool folder, removed by its last owner.
final class SpoolFile: Sendable {
    /// What is wrong with a file that the store created, in one line.
    struct Wrong: Error {
        let reason: String
    }

    let name: String
    private let folder: OwnedDescriptor

    init(name: String, folder: OwnedDescriptor) {
        self.name = name
        self.folder = folder
    }

    deinit {
        unlinkat(folder.raw, name, 0)
    }

    /// Copies contents into it: blocks are shared if the filesystem supports it, holes stay holes.
    /// - Throws: The error; ENODATA if there are fewer bytes than their size.
    func fill(with contents: ItemContents) throws(Errno) {
        guard try Self.size(of: contents.file.rawValue) >= contents.size else { throw .noData }
        let target = try OwnedDescriptor(
            checking: openat(folder.raw, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600))
        if contents.size > 0, ioctl(target.raw, UInt(CL_FICLONE), contents.file.rawValue) != 0 {
            for range in DataRanges(of: contents.file, in: 0..<contents.size) {
                try Self.copy(range, from: contents.file.rawValue, to: target.raw)
            }
        }
        // The snapshot may be longer than the content to send.
        guard ftruncate(target.raw, off_t(contents.size)) == 0 else { throw Errno(rawValue: errno) }
    }

    private static func size(of file: Int32) throws(Errno) -> Int64 {
        var status = stat()
        guard fstat(file, &status) == 0 else { throw Errno(rawValue: errno) }
        return Int64(status.st_size)
    }

    private static func copy(_ range: Range<Int64>, from source: Int32, to target: Int32) throws(Errno) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4_096)
        defer { buffer.deallocate() }
        var offset = range.lowerBound
        while offset < range.upperBound {
            let wanted = Int(min(range.upperBound - offset, Int64(buffer.count)))
            let count = pread(source, buffer.baseAddress, wanted, off_t(offset))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw count < 0 ? Errno(rawValue: errno) : .ioError }
            try UnsafeRawBufferPointer(rebasing: buffer[..<count]).writeAll(to: target, at: offset)
            offset += Int64(count)
        }
    }

    /// Opens the file that the store has written.
    /// - Throws: What is wrong with it.
    func opened() throws(Wrong) -> FetchedFile {
        // NONBLOCK: opening a fifo would wait for its other end.
        let raw = openat(folder.raw, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard raw >= 0 else {
            let text = errno == ELOOP ? "is a link" : errno == ENOENT ? "is missing" : "can't be opened"
            throw Wrong(reason: "the spool file \(text)")
        }
        let file = OwnedDescriptor(raw)
        var status = stat()
        guard fstat(raw, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw Wrong(reason: "the spool file is not a regular file")
        }
        guard status.st_nlink == 1 else { throw Wrong(reason: "the spool file has other hard links") }
        guard status.st_uid == geteuid() else { throw Wrong(reason: "the spool file belongs to another user") }
        return FetchedFile(file: file, size: Int64(status.st_size))
    }
}

/// A file that a store has written, open.
struct FetchedFile {
    private let file: OwnedDescriptor
    /// Its size when it was opened, in bytes.
    let size: Int64

    fileprivate init(file: OwnedDescriptor, size: Int64) {
        self.file = file
        self.size = size
    }

    /// Passes a part to a sink; a hole as zeros.
    /// - Parameter offset: The content's offset at position 0 of the file.
    /// - Throws: The sink's error, or ``SpoolFile/Wrong``.
    func copy(_ part: Range<Int64>, to sink: any ContentSink, offset: Int64) throws {
        var done = part.lowerBound
        for data in DataRanges(of: FileDescriptor(rawValue: file.raw), in: part) {
            if done < data.lowerBound { try sink.writeZeros(in: done + offset..<data.lowerBound + offset) }
            try copyData(data, to: sink, offset: offset)
            done = data.upperBound
        }
        guard done < part.upperBound else { return }
        var status = stat()
        guard fstat(file.raw, &status) == 0, Int64(status.st_size) >= part.upperBound else {
            throw SpoolFile.Wrong(reason: "the spool file is too short")
        }
        try sink.writeZeros(in: done + offset..<part.upperBound + offset)
    }

    private func copyData(_ data: Range<Int64>, to sink: any ContentSink, offset: Int64) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Int(min(Int64(data.count), 1 << 20)), alignment: 4_096)
        defer { buffer.deallocate() }
        var done = data.lowerBound
        while done < data.upperBound {
            let wanted = Int(min(data.upperBound - done, Int64(buffer.count)))
            let count = pread(file.raw, buffer.baseAddress, wanted, off_t(done))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw SpoolFile.Wrong(reason: "the spool file is too short") }
            try sink.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: done + offset)
            done += Int64(count)
        }
    }
}
