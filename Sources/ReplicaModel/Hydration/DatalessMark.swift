internal import CLinux
internal import Glibc
internal import SystemPackage

/// The attribute that a placeholder bears. Its value is a secret of the domain, kept in `STATE/mark`: what a directory
/// brings from outside, by tar, rsync -X or out of another domain's tree, is no mark of ours, whatever it says.
struct DatalessMark: Equatable {
    /// What it says; empty in domains that were made before there were secrets.
    var value: [UInt8] = []
    /// Whether a mark that says nothing is believed: the domain may have made it.
    var believesEmpty = true

    /// Whether a mark that says this is ours.
    func believes(_ other: [UInt8]) -> Bool { other == value || believesEmpty && other.isEmpty }

    /// Whether the file bears our mark. Asked of every file of a scan, so by a path: this form of the call leaves symlinks
    /// alone.
    func isOn(_ place: BackingPath) -> Bool {
        let path = place.isOrphan ? place.name.bytes : Array("/proc/self/fd/\(place.folder)/".utf8) + place.name.bytes
        var said = [UInt8](repeating: 0, count: 64)
        let length = FileName(bytes: path).withCString { path in
            place.isOrphan
                ? getxattr(path, OwnXattr.dataless, &said, said.count)
                : lgetxattr(path, OwnXattr.dataless, &said, said.count)
        }
        return length >= 0 && believes(Array(said.prefix(length)))
    }
}

extension StateFolders {
    private static let length = 32

    /// Chooses the secret of a new domain, before there is a tree. It is on the disk when this returns.
    func makeMark() throws(Errno) {
        guard try readMark() == nil else { return }
        try writeMark((0..<Self.length).map { _ in UInt8.random(in: 0x61...0x7A) })
    }

    /// The domain's mark. One that was made before there were secrets gets an empty one.
    func loadMark() throws(Errno) -> DatalessMark {
        if try readMark() == nil { try writeMark([]) }
        guard let value = try readMark() else { throw .ioError }
        return DatalessMark(value: value, believesEmpty: value.isEmpty)
    }

    private func readMark() throws(Errno) -> [UInt8]? {
        let file = mark.withPlatformString { open($0, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) }
        guard file >= 0 else {
            if Errno.last == .noSuchFileOrDirectory { return nil }
            throw .last
        }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: Self.length)
        let length = try Errno.check(read(file, &bytes, bytes.count))
        return Array(bytes.prefix(length))
    }

    private func writeMark(_ value: [UInt8]) throws(Errno) {
        let fresh = root.appending("mark.new")
        let file = try Errno.check(
            fresh.withPlatformString { open($0, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600) })
        defer { close(file) }
        guard write(file, value, value.count) == value.count else { throw .noSpace }
        try Errno.check(fsync(file))
        let renamed = fresh.withPlatformString { from in mark.withPlatformString { rename(from, $0) } }
        try Errno.check(renamed)
        let folder = try Errno.check(root.withPlatformString { open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
        defer { close(folder) }
        try Errno.check(fsync(folder))
    }
}
