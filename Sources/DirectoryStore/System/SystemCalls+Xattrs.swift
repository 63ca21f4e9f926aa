import CLinux
import Glibc
import ReplicaModel
import SystemPackage

extension SystemCalls {
    /// The names of all attributes; nil on a filesystem without attributes.
    static func attributeNames(of file: OpenDescriptor) throws(Errno) -> [String]? {
        var size = 256
        while true {
            var bytes = [CChar](repeating: 0, count: size)
            do {
                let length = try check { flistxattr(file.raw, &bytes, size) }
                // A name that is not UTF-8 can't be an item's attribute; its repaired form simply doesn't exist.
                return bytes.prefix(length).split(separator: 0).map {
                    String(decoding: $0.map { UInt8(bitPattern: $0) }, as: UTF8.self)
                }
            } catch .outOfRange {
                size *= 4
            } catch .notSupported {
                return nil
            }
        }
    }

    /// Whether `user.*` attributes of an open file can be read, which usually means that they can be set.
    static func mayHaveAttributes(_ file: OpenDescriptor) throws(Errno) -> Bool {
        do {
            try check { fgetxattr(file.raw, MetadataXattrs.template, nil, 0) }
            return true
        } catch .noData {
            return true
        } catch .notSupported {
            return false
        }
    }

    /// The value of an attribute; nil if it does not exist.
    static func attribute(_ name: String, of file: OpenDescriptor) throws(Errno) -> [UInt8]? {
        var size = 256
        while true {
            var bytes = [UInt8](repeating: 0, count: size)
            do {
                let length = try check { fgetxattr(file.raw, name, &bytes, size) }
                return Array(bytes.prefix(length))
            } catch .outOfRange {
                size = max(size * 4, 65_536)
            } catch .noData {
                return nil
            } catch .notSupported {
                return nil
            }
        }
    }

    /// The value of a short attribute of an entry, without opening it or following a symlink.
    static func attribute(
        _ attribute: String, of name: FileName, in folder: OpenDescriptor, atMost size: Int
    ) throws(Errno) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: size)
        do {
            let length = try check {
                bytes.withUnsafeMutableBytes { EntryAttribute.read(attribute, of: name, in: folder.raw, into: $0) }
            }
            return Array(bytes.prefix(length))
        } catch  where error == .noData || error == .notSupported || error == .outOfRange {
            return nil
        }
    }

    /// Sets the mode. Its group bits apply to the file's group even if there is an ACL, where fchmod(2) would set the
    /// mask instead; named users and groups keep the rights that the file's owner gave them.
    static func setMode(_ mode: UInt16, of file: OpenDescriptor) throws(Errno) {
        guard let value = try attribute(AccessList.attribute, of: file), let list = AccessList(value) else {
            try check { fchmod(file.raw, mode_t(mode)) }
            return
        }
        try setAttribute(AccessList.attribute, list.with(mode: mode).bytes, of: file)
        let now = try status(of: file).mode
        if now & 0o7000 != mode & 0o7000 { try check { fchmod(file.raw, mode_t(now & 0o777 | mode & 0o7000)) } }
    }

    static func setAttribute(_ name: String, _ value: [UInt8], of file: OpenDescriptor) throws(Errno) {
        try OwnerPermissions.ifNeeded(S_IWUSR, of: file.raw) { () throws(Errno) in
            try check { fsetxattr(file.raw, name, value, value.count, 0) }
        }
    }

    /// Removes an attribute; succeeds if it does not exist.
    static func removeAttribute(_ name: String, of file: OpenDescriptor) throws(Errno) {
        do {
            try OwnerPermissions.ifNeeded(S_IWUSR, of: file.raw) { () throws(Errno) in
                try check { fremovexattr(file.raw, name) }
            }
        } catch .noData {}
    }
}
