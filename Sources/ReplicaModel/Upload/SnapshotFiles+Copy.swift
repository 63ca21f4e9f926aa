internal import CLinux
internal import Glibc
internal import SystemPackage

/// How a snapshot is copied: as a clone, by the kernel, or by reading and writing.
extension SnapshotFiles {
    /// Copies `range` by reading it; a read may return fewer bytes than requested.
    /// - Returns: The end of the copy; earlier than the end of the range if the source ends there.
    func fill(_ copy: Int32, _ source: Int32, _ range: Range<Int64>) throws(Errno) -> Int64 {
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
