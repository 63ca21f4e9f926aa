import CLinux
import Glibc
import ReplicaModel
import SystemPackage

/// A modify puts a new file in the old one's place. An attribute of the new one says that it is still the same item,
/// so that a crash before the answer is recorded, or a listing that is under way, takes it for no other.
///
/// The attribute names the file that carries it too: a copy made with all attributes is an item of its own.
enum Inheritance {
    private static let attribute = "user.replica.item"

    /// Has an open file be known as `key`. Where that cannot be kept the file is a new item.
    static func give(_ key: ItemKey, to file: Handle) throws(Errno) {
        let own = try Linux.status(of: file)
        let text = "\(key.identifier.rawValue) \(hex(own.inode))-\(hex(UInt64(bitPattern: own.birth)))"
        do {
            try Linux.setAttribute(attribute, Array(text.utf8), of: file)
        } catch {
            return
        }
    }

    /// Has a file be what it is by itself.
    static func take(from name: FileName, in folder: Handle) throws(Errno) {
        try Linux.removeAttribute(attribute, of: try Linux.open(name, in: folder, O_RDONLY | O_NONBLOCK))
    }

    /// The attribute of an open file.
    static func value(of file: Handle) -> String? {
        value { fgetxattr(file.raw, attribute, $0, $1) }
    }

    /// The attribute of an entry; a link is not followed.
    static func value(of name: FileName, in folder: Handle) -> String? {
        let path = Array("/proc/self/fd/\(folder.raw)/".utf8) + name.bytes
        return FileName(bytes: path).withCString { path in value { lgetxattr(path, attribute, $0, $1) } }
    }

    private static func value(_ read: (UnsafeMutableRawPointer?, Int) -> Int) -> String? {
        var bytes = [UInt8](repeating: 0, count: 160)
        let length = bytes.withUnsafeMutableBytes { read($0.baseAddress, $0.count) }
        return length > 0 ? String(decoding: bytes.prefix(length), as: UTF8.self) : nil
    }
}

extension FileStatus {
    /// Takes in what the file's attribute says, if it is the file's own.
    mutating func inherit(_ value: String?) {
        guard kind == .file, links == 1, let value else { return }
        let parts = value.split(separator: " ")
        guard parts.count == 2, parts[1] == "\(hex(inode))-\(hex(UInt64(bitPattern: birth)))" else { return }
        // The root is no file: whoever says so would have a file be the folder of all others.
        inherited = ItemKey(ItemIdentifier(String(parts[0]))).flatMap { $0 == .root ? nil : $0 }
    }
}
