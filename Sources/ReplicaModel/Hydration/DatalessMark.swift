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

    /// What it says while the file is evicted: its size and times are not those that it keeps.
    var whileEvicting: [UInt8] { value + Array("+".utf8) }

    /// Whether a mark that says this is ours.
    func believes(_ other: [UInt8]) -> Bool {
        other == value || other == whileEvicting || believesEmpty && other.isEmpty
    }

    /// Whether the file bears our mark.
    func isOn(_ place: BackingPath) -> Bool { said(on: place) != nil }

    /// What our mark says on the file; nil if it does not bear it. Asked of every file of a scan, so by a path: this form of the
    /// call leaves symlinks alone.
    func said(on place: BackingPath) -> [UInt8]? {
        let path = place.isOrphan ? place.name.bytes : Array("/proc/self/fd/\(place.folder)/".utf8) + place.name.bytes
        var said = [UInt8](repeating: 0, count: 64)
        let length = FileName(bytes: path).withCString { path in
            place.isOrphan
                ? getxattr(path, OwnXattr.dataless, &said, said.count)
                : lgetxattr(path, OwnXattr.dataless, &said, said.count)
        }
        guard length >= 0 else { return nil }
        said.removeLast(said.count - length)
        return believes(said) ? said : nil
    }
}

extension StateFolders {
    private static let length = 32

    /// Chooses the secret of a new domain, before there is a tree. It is on the disk when this returns.
    func makeMark() throws(Errno) {
        guard try privateFile(mark) == nil else { return }
        try writePrivateFile(mark, (0..<Self.length).map { _ in UInt8.random(in: 0x61...0x7A) })
    }

    /// The domain's mark. One that was made before there were secrets gets an empty one.
    func loadMark() throws(Errno) -> DatalessMark {
        if try privateFile(mark) == nil { try writePrivateFile(mark, []) }
        guard let value = try privateFile(mark) else { throw .ioError }
        return DatalessMark(value: value, believesEmpty: value.isEmpty)
    }
}
