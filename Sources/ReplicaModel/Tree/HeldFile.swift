internal import CLinux
internal import Glibc
internal import SystemPackage

/// A backing file that is held by an `O_PATH` descriptor: calls reach this file only, even if its name is changed. Large: one
/// method for each call.
///
/// A process that had a folder open before the import can replace a name by a symlink at any moment. A call that takes
/// a name and always follows symlinks would be made as root on the symlink's target.
struct HeldFile {
    let descriptor: Int32
    /// Whether it is open for its data, not `O_PATH`: then no call needs a path.
    var isReadable = false

    /// A path of the file for calls that don't accept an `O_PATH` descriptor. It leads to the file itself, even if that
    /// is a symlink.
    private var path: String { "\(CL_DESCRIPTORS)\(descriptor)" }

    func status() throws(Errno) -> FileStatus { try FileStatus(descriptor: descriptor) }

    /// chmod(2). A symlink's mode is never changed.
    func setMode(_ mode: UInt32) throws(Errno) {
        guard try status().kind != .symlink else { throw .notSupported }
        try Errno.check(chmod(path, mode))
    }

    /// Sets a mode from the store. Its group bits are the rights of the group, even if there is an ACL, where chmod(2)
    /// would set the mask.
    func setReplicatedMode(_ mode: UInt16) throws(Errno) {
        guard let list = try accessList() else { return try setMode(UInt32(mode)) }
        try setXattr(AccessList.attribute, to: list.with(mode: mode).bytes)
        let now = try status().permissions
        // The permissions without entries in the ACL.
        if now & 0o7000 != mode & 0o7000 { try setMode(UInt32(now & 0o777 | mode & 0o7000)) }
    }

    /// The mode with the permissions of the file's group, for a file with this status.
    func replicatedMode(_ status: FileStatus) throws(Errno) -> UInt16 {
        guard status.kind != .symlink, let list = try accessList() else { return status.permissions }
        return list.mode(status.permissions)
    }

    /// Nil if the file has none, or the filesystem does not support them.
    private func accessList() throws(Errno) -> AccessList? {
        do {
            return AccessList(try xattr(AccessList.attribute))
        } catch {
            if error == .noAttribute || error == .notSupported { return nil }
            throw error
        }
    }

    func setOwner(_ user: UInt32, _ group: UInt32) throws(Errno) {
        try Errno.check(fchownat(descriptor, "", user, group, CL_AT_EMPTY_PATH))
    }

    func setTimes(accessed: timespec, modified: timespec) throws(Errno) {
        try Errno.check(utimensat(AT_FDCWD, path, [accessed, modified], 0))
    }

    /// Truncates to zero a file that is open only for reading.
    func truncate() throws(Errno) {
        let file = try open(O_WRONLY)
        defer { close(file) }
        try Errno.check(ftruncate(file, 0))
    }

    /// Gives the file, symlinks too, another name.
    func link(as name: FileName, in folder: Int32) throws(Errno) {
        try name.withCString { (name) throws(Errno) in
            try Errno.check(linkat(AT_FDCWD, path, folder, name, AT_SYMLINK_FOLLOW))
        }
    }

    /// Opens the file again, for its data.
    func open(_ flags: Int32) throws(Errno) -> Int32 {
        let needed =
            switch flags & O_ACCMODE {
            case O_RDONLY: S_IRUSR
            case O_WRONLY: S_IWUSR
            default: S_IRUSR | S_IWUSR
            }
        return try OwnerPermissions.ifNeeded(needed, of: descriptor) { () throws(Errno) in
            try Errno.check(Glibc.open(path, flags | O_NONBLOCK | O_CLOEXEC))
        }
    }

    // MARK: Extended attributes

    func xattr(_ name: String) throws(Errno) -> [UInt8] {
        let path = isReadable ? "" : path
        func get(_ value: UnsafeMutableRawPointer?, _ size: Int) -> Int {
            isReadable ? fgetxattr(descriptor, name, value, size) : getxattr(path, name, value, size)
        }
        return try OwnerPermissions.ifNeeded(S_IRUSR, of: descriptor) { () throws(Errno) in
            var size = try Errno.check(get(nil, 0))
            while true {
                var value = [UInt8](repeating: 0, count: size)
                let got = get(&value, size)
                if got >= 0 { return Array(value.prefix(got)) }
                guard Errno.last == .outOfRange else { throw .last }
                size = try Errno.check(get(nil, 0))
            }
        }
    }

    /// XATTR_LIST_MAX of <linux/limits.h>.
    private static let longestXattrList = 65_536

    func xattrNames() throws(Errno) -> [String] {
        var size = 1024
        while true {
            var list = [CChar](repeating: 0, count: size)
            let got = isReadable ? flistxattr(descriptor, &list, size) : listxattr(path, &list, size)
            if got < 0, Errno.last == .outOfRange, size < Self.longestXattrList {
                size = Self.longestXattrList
                continue
            }
            return list.prefix(try Errno.check(got)).split(separator: 0).map {
                String(decoding: $0.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            }
        }
    }

    /// Sets an attribute; nil removes it.
    func setXattr(_ name: String, _ value: UnsafeRawBufferPointer?, flags: Int32 = 0) throws(Errno) {
        try OwnerPermissions.ifNeeded(S_IWUSR, of: descriptor) { () throws(Errno) in
            guard let value else {
                try Errno.check(removexattr(path, name))
                return
            }
            try Errno.check(setxattr(path, name, value.baseAddress, value.count, flags))
        }
    }

    /// Sets an attribute, new or not.
    func setXattr(_ name: String, to value: [UInt8]) throws(Errno) {
        try OwnerPermissions.ifNeeded(S_IWUSR, of: descriptor) { () throws(Errno) in
            try Errno.check(setxattr(path, name, value, value.count, 0))
        }
    }
}

extension BackingPath {
    /// Calls `body` with the file that is here now.
    func hold<Result>(_ body: (HeldFile) throws(Errno) -> Result) throws(Errno) -> Result {
        let file = try open(CL_O_PATH)
        defer { close(file) }
        return try body(HeldFile(descriptor: file))
    }

    func xattr(_ name: String) throws(Errno) -> [UInt8] {
        try hold { (file) throws(Errno) in try file.xattr(name) }
    }

    func xattrNames() throws(Errno) -> [String] {
        try hold { (file) throws(Errno) in try file.xattrNames() }
    }

    /// Sets an attribute; nil removes it.
    func setXattr(_ name: String, _ value: UnsafeRawBufferPointer?, flags: Int32 = 0) throws(Errno) {
        try hold { (file) throws(Errno) in try file.setXattr(name, value, flags: flags) }
    }

    /// Sets an attribute, new or not.
    func setXattr(_ name: String, to value: [UInt8]) throws(Errno) {
        try hold { (file) throws(Errno) in try file.setXattr(name, to: value) }
    }
}
