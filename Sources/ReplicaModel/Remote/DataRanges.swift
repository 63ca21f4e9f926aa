internal import CLinux
internal import Glibc
public import SystemPackage

/// The parts of an open file that hold data, in order. What lies between them are holes: they read as zeros and take no
/// room, and whoever copies them byte by byte fills a disk with them.
///
/// The file's offset moves. Where a filesystem knows no holes all is data.
public struct DataRanges: Sequence, IteratorProtocol {
    private let file: Int32
    private var left: Range<Int64>
    private let seek: Seek

    /// lseek(2).
    typealias Seek = (_ file: Int32, _ offset: Int64, _ whence: Int32) -> Int64

    /// The data in a range of a file. Beyond the file's end there is none.
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
        // A file that changes meanwhile may answer anything; what is copied then is compared anyway.
        let stop = hole > start ? Swift.min(hole, end) : end
        left = stop..<end
        return start..<stop
    }

    /// Where the next data of either of two files of one size begins: from `offset` to there both are zeros.
    public static func next(of one: FileDescriptor, or other: FileDescriptor, in range: Range<Int64>) -> Int64 {
        [one, other].reduce(range.upperBound) { end, file in
            var ranges = DataRanges(of: file, in: range)
            return Swift.min(end, ranges.next()?.lowerBound ?? end)
        }
    }
}
