internal import Glibc
internal import SystemPackage

/// Fetched bytes go to a file in staging, and no byte more than the item has.
final class StagingSink: ContentSink {
    private let descriptor: Int32
    private let size: Int64
    /// Told how many bytes came.
    private let arrived: @Sendable (Int) -> Void
    private let isOverfull = Locked(false)

    init(descriptor: Int32, size: Int64, arrived: @escaping @Sendable (Int) -> Void) {
        self.descriptor = descriptor
        self.size = size
        self.arrived = arrived
    }

    /// Whether more came than the item has.
    var hasTooMuch: Bool { isOverfull.withLock { $0 } }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(RemoteStoreError) {
        guard offset >= 0, offset <= size, Int64(bytes.count) <= size - offset else {
            isOverfull.withLock { $0 = true }
            throw .malformedAnswer("more came than the item has")
        }
        do throws(Errno) {
            try Self.write(bytes, to: descriptor, at: offset)
            arrived(bytes.count)
        } catch {
            throw .cannotSynchronize("staging cannot be written: \(error)")
        }
    }

    /// Writes all of `bytes`.
    static func write(_ bytes: UnsafeRawBufferPointer, to file: Int32, at offset: Int64) throws(Errno) {
        var done = 0
        while done < bytes.count {
            let count = pwrite(file, bytes.baseAddress! + done, bytes.count - done, Int(offset) + done)
            guard count >= 0 else {
                guard Errno.last == .interrupted else { throw .last }
                continue
            }
            done += count
        }
    }
}
