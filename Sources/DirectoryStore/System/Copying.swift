import CLinux
import Glibc
import ReplicaModel
import SystemPackage

/// Brings the bytes handed to the store into a new file.
enum Copying {
    /// Below this a read and a write are faster than asking the file system to share blocks.
    private static let sharingSize: Int64 = 256 << 10
    private static let blockSize = 1 << 20

    /// Copies `contents` to the empty file `target`: shared where the file system can, else by copy.
    /// - Throws: ``RemoteStoreError/cannotSynchronize(_:)`` when there are fewer bytes than said.
    static func copy(
        _ contents: ItemContents, to target: Handle, _ path: String, _ flag: CancellationFlag
    ) throws(RemoteStoreError) {
        let source = contents.file.rawValue
        if contents.size >= sharingSize, try isWhole(source, contents),
            ioctl(target.raw, UInt(CL_FICLONE), source) == 0
        {
            return contents.progress(contents.size)
        }
        var done: Int64 = 0
        while done < contents.size {
            try flag.check()
            let left = Int(min(contents.size - done, 64 << 20))
            let start = done
            let count = try at(path) { () throws(Errno) in
                if contents.size >= sharingSize, let count = try inKernel(source, target, start, left) {
                    return count
                }
                return try byHand(source, target, start, left)
            }
            if count == 0 { throw .cannotSynchronize("the snapshot ends before its size") }
            done += Int64(count)
            contents.progress(done)
        }
        if contents.size == 0 { contents.progress(0) }
    }

    /// Whether the source has exactly the bytes that were promised, so that it can be taken as it is.
    private static func isWhole(_ source: Int32, _ contents: ItemContents) throws(RemoteStoreError) -> Bool {
        var status = stat()
        return fstat(source, &status) == 0 && Int64(status.st_size) == contents.size
    }

    /// Nil when the kernel cannot copy between these two file systems.
    private static func inKernel(
        _ source: Int32, _ target: Handle, _ offset: Int64, _ count: Int
    ) throws(Errno) -> Int? {
        var from = offset
        var to = offset
        do {
            return try Linux.check { copy_file_range(source, &from, target.raw, &to, count, 0) }
        } catch  where error == .improperLink || error == .invalidArgument || error == .notSupported {
            return nil
        } catch Errno(rawValue: ENOSYS) {
            return nil
        }
    }

    private static func byHand(
        _ source: Int32, _ target: Handle, _ offset: Int64, _ count: Int
    ) throws(Errno) -> Int {
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(1, min(count, blockSize)), alignment: 4_096)
        defer { buffer.deallocate() }
        let read = try Linux.check { pread(source, buffer.baseAddress, buffer.count, off_t(offset)) }
        var written = 0
        while written < read {
            let start = written
            written += try Linux.check {
                pwrite(target.raw, buffer.baseAddress! + start, read - start, off_t(offset) + off_t(start))
            }
        }
        return read
    }

    /// Whether a file holds exactly these contents.
    static func isEqual(
        _ contents: ItemContents, to file: Handle, _ path: String, _ flag: CancellationFlag
    ) throws(RemoteStoreError) -> Bool {
        let ours = UnsafeMutableRawBufferPointer.allocate(byteCount: blockSize, alignment: 4_096)
        let theirs = UnsafeMutableRawBufferPointer.allocate(byteCount: blockSize, alignment: 4_096)
        defer {
            ours.deallocate()
            theirs.deallocate()
        }
        var offset: Int64 = 0
        while true {
            try flag.check()
            let mine = try fill(ours, contents.file.rawValue, offset, path)
            let other = try fill(theirs, file.raw, offset, path)
            guard mine == other, memcmp(ours.baseAddress!, theirs.baseAddress!, mine) == 0 else { return false }
            if mine == 0 { return offset == contents.size }
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
                let count = try Linux.check {
                    pread(file, buffer.baseAddress! + start, buffer.count - start, off_t(offset) + off_t(start))
                }
                if count == 0 { break }
                filled += count
            }
            return filled
        }
    }
}
