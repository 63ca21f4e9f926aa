import CLinux
import Glibc
public import ReplicaModel
import SystemPackage
import Threads

/// A ``ContentSink`` that collects the bytes, for tests.
public final class ContentBuffer: ContentSink {
    private let content = Locked<[UInt8]>([])

    /// An empty buffer.
    public init() {}

    /// Everything written so far; gaps are zero.
    public var bytes: [UInt8] { content.withLock { $0 } }

    public func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(RemoteStoreError) {
        content.withLock {
            let end = Int(offset) + bytes.count
            if $0.count < end { $0 += [UInt8](repeating: 0, count: end - $0.count) }
            $0.replaceSubrange(Int(offset)..<end, with: bytes)
        }
    }
}

extension ItemContents {
    /// Calls `body` with contents of these bytes, in an unnamed file that is closed afterwards.
    public static func with<Result: Sendable>(
        _ bytes: [UInt8], _ body: (ItemContents) async throws(RemoteStoreError) -> Result
    ) async throws(RemoteStoreError) -> Result {
        let file: FileDescriptor
        do {
            file = try FileDescriptor.unnamedFile(holding: bytes)
        } catch {
            throw .cannotSynchronize("no temporary file: \(error)")
        }
        // Nothing was written through a cache of this descriptor, so a failed close loses nothing.
        defer { try? file.close() }
        return try await body(ItemContents(file: file, size: Int64(bytes.count)))
    }
}

extension FileDescriptor {
    /// A file in memory, with no name, that holds `bytes`.
    static func unnamedFile(holding bytes: [UInt8]) throws -> FileDescriptor {
        let raw = memfd_create("contents", CL_MFD_CLOEXEC)
        guard raw >= 0 else { throw Errno(rawValue: errno) }
        let file = FileDescriptor(rawValue: raw)
        try file.writeAll(toAbsoluteOffset: 0, bytes)
        return file
    }
}
