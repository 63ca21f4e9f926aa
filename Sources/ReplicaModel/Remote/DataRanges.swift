internal import CLinux
internal import Glibc
public import SystemPackage

/// The parts of an open file that contain data, in order. The gaps between them are holes: they read as zeros and take
/// no space, but a copy byte by byte would fill the disk.
///
/// Moves the file's offset. On a filesystem without holes, everything is data.
public struct DataRanges: Sequence, IteratorProtocol {
    private let file: Int32
    private var left: Range<Int64>
    private let seek: Seek

    /// lseek(2).
    typealias Seek = (_ file: Int32, _ offset: Int64, _ whence: Int32) -> Int64

    /// The data in a range of a file. There is none beyond the end of the file.
    public init(of file: FileDescriptor, in range: Range<Int64>) {
        self.init(of: file.rawValue, in: range)
    }

    init(of file: Int32, in range: Range<Int64>, seek: @escaping Seek = { Int64(lseek($0, off_t($1), $2)) }) {
        self.file = file
        self.seek = seek
        left = range
    }

    public mutating func next() -> Range<Int64>? {
        guard !left.isEmpty else { return nil }
        let end = left.upperBound
        let start = seek(file, left.lowerBound, CL_SEEK_DATA)
        if start < 0 {
            defer { left = end..<end }
            return errno == ENXIO ? nil : left
        }
        guard start < end else {
            left = end..<end
            return nil
        }
        let hole = seek(file, start, CL_SEEK_HOLE)
        // A file that is being changed may return anything; the copy is verified anyway.
        let stop = hole > start ? Swift.min(hole, end) : end
        left = stop..<end
        return start..<stop
    }

    /// Where the next data of either of two files of the same size begins: from `offset` to there, both contain zeros.
    public static func next(of one: FileDescriptor, or other: FileDescriptor, in range: Range<Int64>) -> Int64 {
        [one, other].reduce(range.upperBound) { end, file in
            var ranges = DataRanges(of: file, in: range)
            return Swift.min(end, ranges.next()?.lowerBound ?? end)
        }
    }
}
