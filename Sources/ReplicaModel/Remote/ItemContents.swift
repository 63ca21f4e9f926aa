public import SystemPackage

/// Content for a store: an immutable snapshot, which later writes don't change (statement 77).
public struct ItemContents: Sendable {
    /// Open for reading. Read it at offsets, and only during the call: the engine reuses it.
    public let file: FileDescriptor
    /// In bytes. Ranges omitted by ``DataRanges`` are zeros, and need not be read.
    public let size: Int64
    /// Called with the number of bytes that the store has accepted so far, from any thread.
    public let progress: @Sendable (Int64) -> Void

    public init(file: FileDescriptor, size: Int64, progress: @escaping @Sendable (Int64) -> Void = { _ in }) {
        self.file = file
        self.size = size
        self.progress = progress
    }

    /// Reads the complete snapshot into memory and reports progress: for stores that send a content at once.
    /// - Throws: ``RemoteStoreError/cannotSynchronize(_:)`` if it cannot be read, or is shorter than its size.
    public func allBytes() throws(RemoteStoreError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(size))
        var done = 0
        while done < bytes.count {
            let count: Int
            do {
                count = try bytes.withUnsafeMutableBytes {
                    try file.read(
                        fromAbsoluteOffset: Int64(done), into: UnsafeMutableRawBufferPointer(rebasing: $0[done...]))
                }
            } catch {
                throw .cannotSynchronize("the snapshot cannot be read: \(error)")
            }
            guard count > 0 else { throw .cannotSynchronize("the snapshot is shorter than its size") }
            done += count
            progress(Int64(done))
        }
        return bytes
    }
}

/// Receives fetched bytes.
public protocol ContentSink: Sendable {
    /// Writes `bytes` at `offset` of the content, in any order; more than was requested is fine.
    /// - Throws: ``RemoteStoreError/cancelled`` if the caller is gone, or there is no space.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(RemoteStoreError)

    /// Writes zeros to a range of the content, if possible in constant time and space.
    func writeZeros(in range: Range<Int64>) throws(RemoteStoreError)
}

extension ContentSink {
    /// Writes them as bytes.
    public func writeZeros(in range: Range<Int64>) throws(RemoteStoreError) {
        let zeros = [UInt8](repeating: 0, count: Int(Swift.min(Int64(range.count), 1 << 20)))
        var offset = range.lowerBound
        while offset < range.upperBound {
            let count = Int(Swift.min(range.upperBound - offset, Int64(zeros.count)))
            // An error of the sink is passed on.
            let outcome = zeros.withUnsafeBytes { bytes in
                Result { () throws(RemoteStoreError) in
                    try write(UnsafeRawBufferPointer(rebasing: bytes[..<count]), at: offset)
                }
            }
            try outcome.get()
            offset += Int64(count)
        }
    }
}
