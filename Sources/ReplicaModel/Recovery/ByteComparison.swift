internal import Glibc
internal import SystemPackage

/// Compares two files byte by byte.
struct ByteComparison {
    /// Whether the first contains nothing that the second lacks, and the reverse. Zeros count as nothing.
    private var isLess = true
    private var isMore = true
    private var isLong = true
    /// Whether the first, or the second, contains a block of only zeros.
    private(set) var hasGap = (first: false, second: false)

    /// - Throws: The error of a read.
    init(_ first: Int32, _ second: Int32) throws(Errno) {
        let sizes = (try FileStatus(descriptor: first).size, try FileStatus(descriptor: second).size)
        isLong = sizes.0 == sizes.1
        let (one, other) = (Self.buffer(), Self.buffer())
        defer { for buffer in [one, other] { buffer.deallocate() } }
        var offset: Int64 = 0
        while offset < max(sizes.0, sizes.1) {
            let counts = (try Self.fill(one, first, offset), try Self.fill(other, second, offset))
            compare(one, other, max(counts.0, counts.1))
            hasGap.first = hasGap.first || Self.hasGap(one, counts.0)
            hasGap.second = hasGap.second || Self.hasGap(other, counts.1)
            offset += Int64(Self.atOnce)
        }
    }

    var result: ContentComparison {
        switch (isLess, isMore) {
        case (true, true): isLong ? .same : .less
        case (true, false): .less
        case (false, true): .more
        case (false, false): .other
        }
    }

    private static let atOnce = 1 << 18
    /// The unit in which a filesystem loses data.
    private static let block = 4096

    private static func buffer() -> UnsafeMutableRawBufferPointer { .allocate(byteCount: atOnce, alignment: block) }

    private mutating func compare(
        _ one: UnsafeMutableRawBufferPointer, _ other: UnsafeMutableRawBufferPointer, _ count: Int
    ) {
        guard memcmp(one.baseAddress!, other.baseAddress!, count) != 0 else { return }
        for index in 0..<count where one[index] != other[index] {
            if one[index] != 0 { isLess = false }
            if other[index] != 0 { isMore = false }
            if !isLess, !isMore { return }
        }
    }

    private static func hasGap(_ buffer: UnsafeMutableRawBufferPointer, _ count: Int) -> Bool {
        stride(from: 0, to: count, by: block).contains { start in
            buffer[start..<min(count, start + block)].allSatisfy { $0 == 0 }
        }
    }

    /// Reads from `offset` on, and pads with zeros after the end of the file.
    private static func fill(
        _ buffer: UnsafeMutableRawBufferPointer, _ file: Int32, _ offset: Int64
    ) throws(Errno) -> Int {
        var filled = 0
        while filled < buffer.count {
            let count = pread(file, buffer.baseAddress! + filled, buffer.count - filled, Int(offset) + filled)
            if count == 0 { break }
            guard count > 0 else {
                guard Errno.last == .interrupted else { throw .last }
                continue
            }
            filled += count
        }
        memset(buffer.baseAddress! + filled, 0, buffer.count - filled)
        return filled
    }
}
