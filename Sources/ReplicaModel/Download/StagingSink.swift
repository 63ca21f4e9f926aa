internal import CLinux
internal import Glibc
internal import SystemPackage
internal import Threads

/// Writes fetched bytes to a file in staging, but never more bytes than the item has.
final class StagingSink: ContentSink {
    private let descriptor: Int32
    private let size: Int64
    /// Called with the number of bytes that arrived.
    private let arrived: @Sendable (Int) -> Void
    private let isOverfull = Locked(false)

    init(descriptor: Int32, size: Int64, arrived: @escaping @Sendable (Int) -> Void) {
        self.descriptor = descriptor
        self.size = size
        self.arrived = arrived
    }

    /// Whether the store sent more bytes than the item has.
    var hasTooMuch: Bool { isOverfull.withLock { $0 } }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(RemoteStoreError) {
        try put(offset, Int64(bytes.count)) { () throws(Errno) in try bytes.writeAll(to: descriptor, at: offset) }
    }

    func writeZeros(in range: Range<Int64>) throws(RemoteStoreError) {
        try put(range.lowerBound, range.upperBound - range.lowerBound) { () throws(Errno) in
            try Self.writeZeros(in: range, to: descriptor)
        }
    }

    private func put(_ offset: Int64, _ count: Int64, _ write: () throws(Errno) -> Void) throws(RemoteStoreError) {
        guard offset >= 0, offset <= size, count <= size - offset else {
            isOverfull.withLock { $0 = true }
            throw .malformedAnswer("the store sent more bytes than the item's size")
        }
        do throws(Errno) {
            try write()
            arrived(Int(count))
        } catch {
            throw .cannotSynchronize("staging cannot be written: \(error)")
        }
    }

    /// Zeros a range of a file, by a hole if the filesystem supports it. A hole doesn't extend the file.
    static func writeZeros(in range: Range<Int64>, to file: Int32) throws(Errno) {
        guard !range.isEmpty else { return }
        let hole = CL_FALLOC_FL_PUNCH_HOLE | CL_FALLOC_FL_KEEP_SIZE
        if fallocate(file, hole, range.lowerBound, Int64(range.count)) == 0 { return }
        let zeros = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
        defer { zeros.deallocate() }
        zeros.initializeMemory(as: UInt8.self, repeating: 0)
        for data in DataRanges(of: file, in: range) {
            var offset = data.lowerBound
            while offset < data.upperBound {
                let count = Int(min(data.upperBound - offset, Int64(zeros.count)))
                try UnsafeRawBufferPointer(rebasing: zeros[..<count]).writeAll(to: file, at: offset)
                offset += Int64(count)
            }
        }
    }
}
