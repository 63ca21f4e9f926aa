package import SystemPackage

/// Reads complete files.
package enum FileBytes {
    /// The file's bytes, or nil if it does not exist.
    /// - Parameter limit: The maximum size in bytes.
    /// - Throws: An `Errno`; EFBIG for a longer file.
    package static func readIfPresent(_ path: FilePath, limit: Int = 1 << 20) throws -> [UInt8]? {
        let file: FileDescriptor
        do {
            file = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec])
        } catch Errno.noSuchFileOrDirectory, Errno.notDirectory {
            return nil
        }
        return try file.closeAfter {
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 65536)
            while true {
                let count = try buffer.withUnsafeMutableBytes { try file.read(into: $0) }
                if count == 0 { return bytes }
                bytes += buffer.prefix(count)
                if bytes.count > limit { throw Errno.fileTooLarge }
            }
        }
    }
}
