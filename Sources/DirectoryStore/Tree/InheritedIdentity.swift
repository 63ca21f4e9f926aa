import CLinux
import Glibc
import ReplicaModel
import SystemPackage

/// A modification replaces the file. An attribute of the new file identifies it as the same item, so that a listing in
/// progress, or a crash before the answer is recorded, doesn't turn it into another item.
///
/// The attribute also identifies the file that it belongs to: a copy with all attributes is a separate item.
enum InheritedIdentity {
    private static let attribute = "user.replica.item"

    /// Marks an open file as the item `key`. If the mark can't be stored, the file becomes a new item.
    static func give(_ key: ItemKey, to file: OpenDescriptor) throws(Errno) {
        let own = try SystemCalls.status(of: file)
        let text = "\(key.identifier.rawValue) \(hex(own.inode))-\(hex(UInt64(bitPattern: own.birth)))"
        do {
            try SystemCalls.setAttribute(attribute, Array(text.utf8), of: file)
        } catch {
            return
        }
    }

    /// Removes the mark, so that the file has its own identifier again.
    static func take(from name: FileName, in folder: OpenDescriptor) throws(Errno) {
        try SystemCalls.removeAttribute(attribute, of: try SystemCalls.open(name, in: folder, O_RDONLY | O_NONBLOCK))
    }

    /// The attribute of an open file.
    static func value(of file: OpenDescriptor) -> String? {
        value { fgetxattr(file.raw, attribute, $0.baseAddress, $0.count) }
    }

    /// The attribute of an entry, without following a symlink.
    static func value(of name: FileName, in folder: OpenDescriptor) -> String? {
        value { EntryAttribute.read(attribute, of: name, in: folder.raw, into: $0) }
    }

    private static func value(_ read: (UnsafeMutableRawBufferPointer) -> Int) -> String? {
        var bytes = [UInt8](repeating: 0, count: 160)
        let length = bytes.withUnsafeMutableBytes { read($0) }
        return length > 0 ? String(decoding: bytes.prefix(length), as: UTF8.self) : nil
    }
}

extension FileStatus {
    /// Adopts the key in the file's attribute, if the attribute belongs to this file.
    mutating func inherit(_ value: String?) {
        guard kind == .file, links == 1, let value else { return }
        let parts = value.split(separator: " ")
        guard parts.count == 2, parts[1] == "\(hex(inode))-\(hex(UInt64(bitPattern: birth)))" else { return }
        // The root is not a file: a file with its key would become the parent of all others.
        inherited = ItemKey(ItemIdentifier(String(parts[0]))).flatMap { $0 == .root ? nil : $0 }
    }
}
