import SystemPackage

/// Small files, read whole.
enum FileBytes {
    /// The file's bytes, or nil where there is no file. Refuses more than a mebibyte: these files are short.
    static func readIfPresent(_ path: FilePath) throws -> [UInt8]? {
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
                if bytes.count > 1 << 20 { throw Errno.fileTooLarge }
            }
        }
    }
}
