internal import CLinux
internal import Glibc
internal import SystemPackage

/// The small files of the state, which are replaced atomically.
extension StateFolders {
    private static let longest = 4096

    /// The bytes of such a file; nil if it does not exist.
    func privateFile(_ path: FilePath) throws(Errno) -> [UInt8]? {
        let file = path.withPlatformString { open($0, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) }
        guard file >= 0 else {
            if Errno.last == .noSuchFileOrDirectory { return nil }
            throw .last
        }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: Self.longest)
        let length = try Errno.check(read(file, &bytes, bytes.count))
        return Array(bytes.prefix(length))
    }

    /// Replaces one of them. It is on the disk when this returns.
    func writePrivateFile(_ path: FilePath, _ value: [UInt8]) throws(Errno) {
        let fresh = Self.fresh(path)
        let file = try Errno.check(
            fresh.withPlatformString { open($0, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600) })
        defer { close(file) }
        guard Glibc.write(file, value, value.count) == value.count else { throw .noSpace }
        try Errno.check(fsync(file))
        let renamed = fresh.withPlatformString { from in path.withPlatformString { rename(from, $0) } }
        try Errno.check(renamed)
        let folder = try Errno.check(root.withPlatformString { open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
        defer { close(folder) }
        try Errno.check(fsync(folder))
    }

    /// The temporary name of one of them.
    static func fresh(_ path: FilePath) -> FilePath {
        path.removingLastComponent().appending((path.lastComponent?.string ?? "") + ".new")
    }
}
