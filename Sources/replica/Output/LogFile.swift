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
        try drain(body)
        if try isAnother(body) { try drain(body) }
        return file != nil
    }

    /// Passes on all lines of the log that this one replaced. Returns whether it is still there.
    mutating func previousLines(at path: FilePath, _ body: ([UInt8]) throws -> Void) throws -> Bool {
        _ = try isAnother(body)
        var previous = LogFile(path)
        // If it was renamed since this one was opened, its lines would be printed twice.
        guard try previous.isAnother(body), previous.number != number || file == nil else { return false }
        try previous.drain(body)
        try previous.rest(body)
        return true
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
    private mutating func isAnother(_ body: ([UInt8]) throws -> Void) throws -> Bool {
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
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw ControlFailure(.failed, "\(path): not a file, but a link or a folder")
        }
        let fresh = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .noFollow, .nonBlocking])
        // The last lines of a file that was moved away come first.
        try drain(body)
        try rest(body)
        try file?.close()
        // It may have been replaced since the check.
        guard fstat(fresh.rawValue, &status) == 0 else { throw Errno(rawValue: errno) }
        (file, number, offset, bytes) = (fresh, UInt64(status.st_ino), 0, [])
        return true
    }
}
