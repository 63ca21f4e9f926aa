/// A request as a packet, which gets its request ID when it is sent. Large: a method for each request of the protocol.
struct SFTPRequest {
    private enum Kind {
        static let hello: UInt8 = 1
        static let open: UInt8 = 3
        static let close: UInt8 = 4
        static let read: UInt8 = 5
        static let write: UInt8 = 6
        static let lstat: UInt8 = 7
        static let fstat: UInt8 = 8
        static let set: UInt8 = 9
        static let setOfHandle: UInt8 = 10
        static let openFolder: UInt8 = 11
        static let readFolder: UInt8 = 12
        static let remove: UInt8 = 13
        static let makeFolder: UInt8 = 14
        static let removeFolder: UInt8 = 15
        static let realPath: UInt8 = 16
        static let stat: UInt8 = 17
        static let rename: UInt8 = 18
        static let readSymlink: UInt8 = 19
        static let makeSymlink: UInt8 = 20
        static let extended: UInt8 = 200
    }

    /// The flags of `SSH_FXP_OPEN`.
    struct OpenFlags: OptionSet {
        let rawValue: UInt32
        static let read = OpenFlags(rawValue: 1)
        static let write = OpenFlags(rawValue: 2)
        static let create = OpenFlags(rawValue: 8)
        static let exclusive = OpenFlags(rawValue: 0x20)
    }

    private var writer: FieldWriter

    private init(_ kind: UInt8, reserving count: Int = 64) {
        writer = FieldWriter(reserving: count + 16)
        writer.add(UInt32(0))
        writer.add(kind)
        writer.add(UInt32(0))
    }

    /// Its bytes with this request ID.
    consuming func packet(_ number: UInt32) -> [UInt8] {
        writer.set(UInt32(writer.bytes.count - 4), at: 0)
        writer.set(number, at: 5)
        return writer.bytes
    }

    /// The first packet: version 3. It has no request ID.
    static let hello: [UInt8] = [0, 0, 0, 5, Kind.hello, 0, 0, 0, 3]

    // MARK: Paths

    static func lstat(_ path: [UInt8]) -> Self { of(Kind.lstat, path) }
    /// Follows a symlink.
    static func stat(_ path: [UInt8]) -> Self { of(Kind.stat, path) }
    static func realPath(_ path: [UInt8]) -> Self { of(Kind.realPath, path) }
    static func readSymlink(_ path: [UInt8]) -> Self { of(Kind.readSymlink, path) }
    static func openFolder(_ path: [UInt8]) -> Self { of(Kind.openFolder, path) }
    static func remove(_ path: [UInt8]) -> Self { of(Kind.remove, path) }
    static func removeFolder(_ path: [UInt8]) -> Self { of(Kind.removeFolder, path) }

    static func rename(_ path: [UInt8], to target: [UInt8]) -> Self { of(Kind.rename, path, target) }

    static func open(_ path: [UInt8], _ flags: OpenFlags, mode: UInt32? = nil) -> Self {
        var request = of(Kind.open, path)
        request.writer.add(flags.rawValue)
        SFTPAttributes(mode: mode).write(to: &request.writer)
        return request
    }

    static func makeFolder(_ path: [UInt8], mode: UInt32? = nil) -> Self {
        var request = of(Kind.makeFolder, path)
        SFTPAttributes(mode: mode).write(to: &request.writer)
        return request
    }

    /// The target comes first, as in OpenSSH and all other servers; the draft has the opposite order.
    static func makeSymlink(_ path: [UInt8], target: [UInt8]) -> Self { of(Kind.makeSymlink, target, path) }

    /// Follows a symlink.
    static func set(_ attributes: SFTPAttributes, of path: [UInt8]) -> Self {
        var request = of(Kind.set, path)
        attributes.write(to: &request.writer)
        return request
    }

    // MARK: Handles

    static func close(_ handle: [UInt8]) -> Self { of(Kind.close, handle) }
    static func fstat(_ handle: [UInt8]) -> Self { of(Kind.fstat, handle) }
    static func readFolder(_ handle: [UInt8]) -> Self { of(Kind.readFolder, handle) }

    static func set(_ attributes: SFTPAttributes, ofHandle handle: [UInt8]) -> Self {
        var request = of(Kind.setOfHandle, handle)
        attributes.write(to: &request.writer)
        return request
    }

    static func read(_ handle: [UInt8], at offset: Int64, count: Int) -> Self {
        var request = of(Kind.read, handle)
        request.writer.add(UInt64(offset))
        request.writer.add(UInt32(count))
        return request
    }

    static func write(_ handle: [UInt8], at offset: Int64, _ bytes: [UInt8]) -> Self {
        var request = Self(Kind.write, reserving: handle.count + bytes.count + 16)
        request.writer.add(string: handle)
        request.writer.add(UInt64(offset))
        request.writer.add(string: bytes)
        return request
    }

    // MARK: Extensions

    static let limits = extended("limits@openssh.com")
    static func sync(_ handle: [UInt8]) -> Self { extended("fsync@openssh.com", handle) }
    static func hardLink(_ path: [UInt8], at target: [UInt8]) -> Self {
        extended("hardlink@openssh.com", path, target)
    }
    /// Copies a range to the same place of another file.
    static func copy(_ handle: [UInt8], _ range: Range<Int64>, to target: [UInt8]) -> Self {
        var request = extended("copy-data", handle)
        request.writer.add(UInt64(range.lowerBound))
        request.writer.add(UInt64(range.count))
        request.writer.add(string: target)
        request.writer.add(UInt64(range.lowerBound))
        return request
    }
    /// Replaces what is there.
    static func replace(_ target: [UInt8], with path: [UInt8]) -> Self {
        extended("posix-rename@openssh.com", path, target)
    }
    static func room(at path: [UInt8]) -> Self { extended("statvfs@openssh.com", path) }
    /// Follows no symlink.
    static func setOfSymlink(_ attributes: SFTPAttributes, of path: [UInt8]) -> Self {
        var request = extended("lsetstat@openssh.com", path)
        attributes.write(to: &request.writer)
        return request
    }

    private static func extended(_ name: String, _ strings: [UInt8]...) -> Self {
        var request = Self(Kind.extended)
        request.writer.add(string: name.utf8)
        for string in strings { request.writer.add(string: string) }
        return request
    }

    private static func of(_ kind: UInt8, _ strings: [UInt8]...) -> Self {
        var request = Self(kind)
        for string in strings { request.writer.add(string: string) }
        return request
    }
}
