internal import CLinux
internal import Glibc
internal import ReplicaModel
internal import SystemPackage
internal import Threads

/// Receives a content in an unnamed file, to be hashed: storages may send bytes in any order.
final class HashingSink: ContentSink {
    private let file: Int32
    private let limit: Int64

    /// - Parameters:
    ///   - folder: Where the file is created.
    ///   - limit: The maximum number of bytes.
    /// - Throws: ``RemoteStoreError/itemUnavailable(_:)`` if no file can be created there.
    init(in folder: String, limit: Int64) throws(RemoteStoreError) {
        file = open(folder, CL_O_TMPFILE | O_RDWR | O_CLOEXEC, 0o600)
        self.limit = limit
        guard file >= 0 else { throw .itemUnavailable("no temporary file for the store: \(Errno(rawValue: errno))") }
    }

    deinit { close(file) }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(RemoteStoreError) {
        guard offset >= 0, offset.saturatingAdd(Int64(bytes.count)) <= limit else {
            throw .malformedAnswer("the content has bytes at an impossible offset")
        }
        do throws(Errno) { try bytes.writeAll(to: file, at: offset) } catch {
            throw .itemUnavailable("no space for a temporary file: \(error)")
        }
    }

    /// The file has zeros in ranges that were not written.
    func writeZeros(in range: Range<Int64>) throws(RemoteStoreError) {}

    /// The hash of the received bytes, as a content of `size` bytes.
    func hash(size: Int64) -> [UInt8]? {
        guard ftruncate(file, off_t(size)) == 0 else { return nil }
        return ContentHash.of(FileDescriptor(rawValue: file), size: size)
    }
}

/// Remembers the error of the sink behind it: the storage's own error may say less.
final class NotingSink: ContentSink {
    private let sink: any ContentSink
    private let refusal = Locked<RemoteStoreError?>(nil)

    init(_ sink: any ContentSink) {
        self.sink = sink
    }

    var error: RemoteStoreError? { refusal.withLock { $0 } }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(RemoteStoreError) {
        do throws(RemoteStoreError) { try sink.write(bytes, at: offset) } catch { throw note(error) }
    }

    func writeZeros(in range: Range<Int64>) throws(RemoteStoreError) {
        do throws(RemoteStoreError) { try sink.writeZeros(in: range) } catch { throw note(error) }
    }

    private func note(_ error: RemoteStoreError) -> RemoteStoreError {
        refusal.withLock { $0 = $0 ?? error }
        return error
    }
}
