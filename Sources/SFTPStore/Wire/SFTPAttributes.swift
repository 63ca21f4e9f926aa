/// A file's attributes from or for a server: `ATTRS` of version 3. Fields that are nil are omitted.
struct SFTPAttributes: Hashable, Sendable {
    var size: UInt64?
    var owner: Owner?
    /// Like st_mode.
    var mode: UInt32?
    var times: Times?

    struct Owner: Hashable, Sendable {
        var user: UInt32
        var group: UInt32
    }

    /// Seconds since 1970.
    struct Times: Hashable, Sendable {
        var access: UInt32
        var modification: UInt32
    }

    private enum Flag {
        static let size: UInt32 = 1
        static let owner: UInt32 = 2
        static let mode: UInt32 = 4
        static let times: UInt32 = 8
        static let extended: UInt32 = 0x8000_0000
    }

    /// Kinds in st_mode.
    enum Kind {
        static let mask: UInt32 = 0o170000
        static let file: UInt32 = 0o100000
        static let folder: UInt32 = 0o040000
        static let symlink: UInt32 = 0o120000
    }

    init(size: UInt64? = nil, owner: Owner? = nil, mode: UInt32? = nil, times: Times? = nil) {
        (self.size, self.owner, self.mode, self.times) = (size, owner, mode, times)
    }

    init(reading reader: inout FieldReader) throws(MalformedPacket) {
        let flags = try reader.uint32()
        if flags & Flag.size != 0 { size = try reader.uint64() }
        if flags & Flag.owner != 0 { owner = Owner(user: try reader.uint32(), group: try reader.uint32()) }
        if flags & Flag.mode != 0 { mode = try reader.uint32() }
        if flags & Flag.times != 0 { times = Times(access: try reader.uint32(), modification: try reader.uint32()) }
        guard flags & Flag.extended != 0 else { return }
        // Each entry needs bytes: a count without them ends immediately.
        for _ in 0..<(try reader.uint32()) {
            _ = try reader.string()
            _ = try reader.string()
        }
    }

    func write(to writer: inout FieldWriter) {
        var flags: UInt32 = 0
        if size != nil { flags |= Flag.size }
        if owner != nil { flags |= Flag.owner }
        if mode != nil { flags |= Flag.mode }
        if times != nil { flags |= Flag.times }
        writer.add(flags)
        if let size { writer.add(size) }
        if let owner {
            writer.add(owner.user)
            writer.add(owner.group)
        }
        if let mode { writer.add(mode) }
        if let times {
            writer.add(times.access)
            writer.add(times.modification)
        }
    }

    var isFile: Bool { has(Kind.file) }
    var isFolder: Bool { has(Kind.folder) }
    var isSymlink: Bool { has(Kind.symlink) }

    private func has(_ kind: UInt32) -> Bool { mode.map { $0 & Kind.mask == kind } ?? false }
}
