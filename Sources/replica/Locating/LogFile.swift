import Glibc
import ReplicaControl
import SystemPackage

/// A log that grows while it is read, and may be truncated or replaced.
struct LogFile {
    private let path: FilePath
    private var file: FileDescriptor?
    private var number: UInt64 = 0
    private var offset: Int64 = 0
    private var bytes: [UInt8] = []

    init(_ path: FilePath) { self.path = path }

    /// Passes the lines added since the last call to `body`, without their line ends.
    /// - Returns: Whether the file exists.
    /// - Throws: An `Errno`, or what `body` throws.
    mutating func lines(_ body: ([UInt8]) throws -> Void) throws -> Bool {
        // If the file is being replaced, the last lines of the old one come first.
        try drain(body)
        if try isAnother() { try drain(body) }
        return file != nil
    }

    private mutating func drain(_ body: ([UInt8]) throws -> Void) throws {
        guard let file else { return }
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = try buffer.withUnsafeMutableBytes { try file.read(fromAbsoluteOffset: offset, into: $0) }
            if count == 0 { return }
            offset += Int64(count)
            var fresh = buffer.prefix(count)
            while let end = fresh.firstIndex(of: UInt8(ascii: "\n")) {
                try body(bytes + fresh[..<end])
                bytes = []
                fresh = fresh[(end + 1)...]
            }
            bytes += fresh
        }
    }

    /// Passes on the last line, which has no end yet.
    mutating func rest(_ body: ([UInt8]) throws -> Void) throws {
        if !bytes.isEmpty { try body(bytes) }
        bytes = []
    }

    /// Opens the current file, and starts from its beginning if it is a different one, or shorter than what was read.
    private mutating func isAnother() throws -> Bool {
        var status = stat()
        guard lstat(path.string, &status) == 0 else {
            if errno == ENOENT { return false }
            throw Errno(rawValue: errno)
        }
        if file != nil, UInt64(status.st_ino) == number {
            guard status.st_size < offset else { return false }
            (offset, bytes) = (0, [])
            return true
        }
        let fresh = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .noFollow, .nonBlocking])
        try file?.close()
        // It may have been replaced since the check.
        guard fstat(fresh.rawValue, &status) == 0 else { throw Errno(rawValue: errno) }
        (file, number, offset, bytes) = (fresh, UInt64(status.st_ino), 0, [])
        return true
    }
}
