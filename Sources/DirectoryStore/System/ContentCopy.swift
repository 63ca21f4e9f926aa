import CLinux
import Glibc
import ReplicaModel
import SystemPackage

/// Copies the contents of a call to a new file.
enum ContentCopy {
    /// Below this size, a read and a write are faster than a request to share blocks.
    private static let sharingSize: Int64 = 256 << 10
    private static let blockSize = 1 << 20

    /// Copies `contents` to the empty file `target`: by sharing blocks if the filesystem supports that, otherwise by
    /// copying.
    /// - Throws: ``RemoteStoreError/cannotSynchronize(_:)`` if there are fewer bytes than declared.
    static func copy(
        _ contents: ItemContents, to target: OpenDescriptor, _ path: String, _ flag: CancellationFlag
    ) throws(RemoteStoreError) {
        let source = contents.file.rawValue
        if contents.size >= sharingSize, size(of: source) == contents.size,
            ioctl(target.raw, UInt(CL_FICLONE), source) == 0
        {
            return contents.progress(contents.size)
        }
        var end: Int64 = 0
        for data in parts(of: contents) {
            try copy(data, of: contents, to: target, path, flag)
            end = data.upperBound
        }
        if contents.size == 0 { contents.progress(0) }
        guard end < contents.size else { return }
        guard size(of: source) >= contents.size else { throw .cannotSynchronize("the snapshot is incomplete") }
        try at(path) { () throws(Errno) in _ = try SystemCalls.check { ftruncate(target.raw, off_t(contents.size)) } }
        contents.progress(contents.size)
    }

    /// The ranges with data. Finding the holes of a small file takes longer than copying it.
    private static func parts(of contents: ItemContents) -> [Range<Int64>] {
        guard contents.size >= sharingSize else { return contents.size == 0 ? [] : [0..<contents.size] }
        return Array(DataRanges(of: contents.file, in: 0..<contents.size))
    }

    private static func copy(
        _ data: Range<Int64>, of contents: ItemContents, to target: OpenDescriptor, _ path: String,
        _ flag: CancellationFlag
    ) throws(RemoteStoreError) {
        let source = contents.file.rawValue
        var done = data.lowerBound
        while done < data.upperBound {
            try flag.check()
            let left = Int(min(data.upperBound - done, 64 << 20))
            let start = done
            let count = try at(path) { () throws(Errno) in
                if contents.size >= sharingSize, let count = try inKernel(source, target, start, left) {
                    return count
                }
                return try byHand(source, target, start, left)
            }
            if count == 0 { throw .cannotSynchronize("the snapshot is incomplete") }
            done += Int64(count)
            contents.progress(done)
        }
    }

    /// The size of an open file; -1 if it is unknown.
    private static func size(of file: Int32) -> Int64 {
        var status = stat()
        return fstat(file, &status) == 0 ? Int64(status.st_size) : -1
    }

    /// Nil if the kernel cannot copy between these two filesystems.
    private static func inKernel(
        _ source: Int32, _ target: OpenDescriptor, _ offset: Int64, _ count: Int
    ) throws(Errno) -> Int? {
        var from = offset
        var to = offset
        do {
            return try SystemCalls.check { copy_file_range(source, &from, target.raw, &to, count, 0) }
        } catch  where error == .improperLink || error == .invalidArgument || error == .notSupported {
            return nil
        } catch Errno(rawValue: ENOSYS) {
            return nil
        }
    }

    private static func byHand(
        _ source: Int32, _ target: OpenDescriptor, _ offset: Int64, _ count: Int
    ) throws(Errno) -> Int {
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(1, min(count, blockSize)), alignment: 4_096)
        defer { buffer.deallocate() }
        let read = try SystemCalls.check { pread(source, buffer.baseAddress, buffer.count, off_t(offset)) }
        var written = 0
        while written < read {
            let start = written
            written += try SystemCalls.check {
                pwrite(target.raw, buffer.baseAddress! + start, read - start, off_t(offset) + off_t(start))
            }
        }
        return read
    }

    /// Whether a file contains exactly these contents.
    static func isEqual(
        _ contents: ItemContents, to file: OpenDescriptor, _ path: String, _ flag: CancellationFlag
    ) throws(RemoteStoreError) -> Bool {
        let ours = UnsafeMutableRawBufferPointer.allocate(byteCount: blockSize, alignment: 4_096)
        let theirs = UnsafeMutableRawBufferPointer.allocate(byteCount: blockSize, alignment: 4_096)
        defer {
            ours.deallocate()
            theirs.deallocate()
        }
        let end = contents.size
        guard size(of: file.raw) == end, size(of: contents.file.rawValue) == end else { return false }
        var offset: Int64 = 0
        while true {
            try flag.check()
            if end >= sharingSize {
                let left = offset..<max(offset, end)
                offset = DataRanges.next(of: contents.file, or: FileDescriptor(rawValue: file.raw), in: left)
            }
            let mine = try fill(ours, contents.file.rawValue, offset, path)
            let other = try fill(theirs, file.raw, offset, path)
            guard mine == other, memcmp(ours.baseAddress!, theirs.baseAddress!, mine) == 0 else { return false }
            if mine == 0 { return offset == end }
            offset += Int64(mine)
        }
    }

    private static func fill(
        _ buffer: UnsafeMutableRawBufferPointer, _ file: Int32, _ offset: Int64, _ path: String
    ) throws(RemoteStoreError) -> Int {
        try at(path) { () throws(Errno) in
            var filled = 0
            while filled < buffer.count {
                let start = filled
                let count = try SystemCalls.check {
                    pread(file, buffer.baseAddress! + start, buffer.count - start, off_t(offset) + off_t(start))
                }
                if count == 0 { break }
                filled += count
            }
            return filled
        }
    }
}
