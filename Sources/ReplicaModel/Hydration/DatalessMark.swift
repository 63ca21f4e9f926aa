internal import CLinux
internal import Glibc
internal import SystemPackage

/// The extended attribute that marks a placeholder. Its value is a secret of the domain, stored in `STATE/mark`: an
/// attribute that came from elsewhere, by tar, rsync -X or from another domain's tree, is never taken for ours.
struct DatalessMark: Equatable {
    /// The attribute's value; empty in domains created before there were secrets.
    var value: [UInt8] = []
    /// Whether an empty value is accepted, because this domain may have written it.
    var believesEmpty = true

    /// The value during an eviction, while the size and times of the file are not yet the final ones.
    var whileEvicting: [UInt8] { value + Array("+".utf8) }

    /// The value once the file was truncated through the mount: without it, another program made the file shorter.
    var whenTruncated: [UInt8] { value + Array("-".utf8) }

    /// Whether a mark with this value is ours.
    func believes(_ other: [UInt8]) -> Bool {
        [value, whileEvicting, whenTruncated].contains(other) || believesEmpty && other.isEmpty
    }

    /// Whether the file has our mark.
    func isOn(_ place: BackingPath) throws(Errno) -> Bool { try value(on: place) != nil }

    /// The value of our mark on the file; nil if it has none. Does not open the file, because it is called for every file
    /// of a scan.
    /// - Throws: The errors of getxattr(2): a placeholder whose mark can't be read would count as a file of zeros.
    func value(on place: BackingPath) throws(Errno) -> [UInt8]? {
        var said = [UInt8](repeating: 0, count: 64)
        let length = said.withUnsafeMutableBytes { said in
            guard place.isOrphan else {
                return EntryAttribute.read(OwnXattr.dataless, of: place.name, in: place.folder, into: said)
            }
            return place.name.withCString { getxattr($0, OwnXattr.dataless, said.baseAddress, said.count) }
        }
        guard length >= 0 else {
            switch Errno.last {
            case .permissionDenied: return try unreadable(on: place)
            // A longer one is not ours.
            case .noAttribute, .notSupported, .outOfRange: return nil
            case let error: throw error
            }
        }
        said.removeLast(said.count - length)
        return believes(said) ? said : nil
    }

    /// The mark of a file that the daemon's user may not read.
    private func unreadable(on place: BackingPath) throws(Errno) -> [UInt8]? {
        do throws(Errno) {
            let said = try place.xattr(OwnXattr.dataless)
            return believes(said) ? said : nil
        } catch {
            // Of another user's file: a placeholder is the daemon's own.
            guard [.noAttribute, .notSupported, .permissionDenied, .notPermitted].contains(error) else { throw error }
            return nil
        }
    }
}

extension StateFolders {
    private static let length = 32

    /// Generates the secret of a new domain, before its tree exists. It is on the disk when this returns.
    func makeMark() throws(Errno) {
        guard try privateFile(mark) == nil else { return }
        try writePrivateFile(mark, (0..<Self.length).map { _ in UInt8.random(in: 0x61...0x7A) })
    }

    /// The domain's mark. A domain created before there were secrets has an empty one.
    func loadMark() throws(Errno) -> DatalessMark {
        if try privateFile(mark) == nil { try writePrivateFile(mark, []) }
        guard let value = try privateFile(mark) else { throw .ioError }
        return DatalessMark(value: value, believesEmpty: value.isEmpty)
    }
}
