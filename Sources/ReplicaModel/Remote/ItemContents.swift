public import SystemPackage

/// The bytes handed to a store: a snapshot that stays as it is, whatever the user writes meanwhile (statement 77).
public struct ItemContents: Sendable {
    /// Open for reading. Read it at offsets, and not after the call: the engine uses it again.
    public let file: FileDescriptor
    /// In bytes. What ``DataRanges`` leaves out of them is zeros, and need not be read.
    public let size: Int64
    /// Told how many bytes the store has taken so far, from any thread.
    public let progress: @Sendable (Int64) -> Void

    public init(file: FileDescriptor, size: Int64, progress: @escaping @Sendable (Int64) -> Void = { _ in }) {
        self.file = file
        self.size = size
        self.progress = progress
    }
}

/// Where fetched bytes go.
public protocol ContentSink: Sendable {
    /// Takes `bytes` for the content's `offset`. Any order; more than was asked for is welcome.
    /// - Throws: ``RemoteStoreError/cancelled`` when nobody waits any more, or when there is no room.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(RemoteStoreError)

    /// Takes zeros for a range of the content, in time and room that do not grow with it where that can be.
    func writeZeros(in range: Range<Int64>) throws(RemoteStoreError)
}

extension ContentSink {
    /// Writes them as bytes.
    public func writeZeros(in range: Range<Int64>) throws(RemoteStoreError) {
        let zeros = [UInt8](repeating: 0, count: Int(Swift.min(Int64(range.count), 1 << 20)))
        var offset = range.lowerBound
        while offset < range.upperBound {
            let count = Int(Swift.min(range.upperBound - offset, Int64(zeros.count)))
            // What cannot be written is the sink's to say.
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
