import CMount
package import SystemPackage

/// A mounted filesystem, from `/proc/self/mountinfo`.
package struct MountedFileSystem: Sendable {
    /// The mount ID, which is reused after it is gone.
    package let number: UInt64
    /// The ID of the mount that it is on.
    package let parent: UInt64
    /// The filesystem's device.
    package let device: DeviceNumber
    /// The folder of the filesystem that is mounted; other than its root for a bind mount.
    package let root: FilePath
    /// The mountpoint.
    package let path: FilePath
    /// `rw`, `nosuid`, ...: the mount's own, not those of the filesystem.
    package let flags: [String]
    /// `ext4`, `fuse.replica`, ...
    package let type: String
    /// The source: a device or a name.
    package let source: String
    /// Of a FUSE mount, who mounted it: without `allow_other`, nobody else may enter it.
    package let user: User?
    /// Of a FUSE mount, whether all users may enter it.
    package let allowsOther: Bool

    /// The numbers of a user and of a group.
    package struct User: Sendable {
        /// The user's.
        package let id: UInt32
        /// The group's.
        package let group: UInt32
    }
}

/// A device's two numbers.
package struct DeviceNumber: Hashable, Codable, Sendable {
    package let major: UInt32
    package let minor: UInt32

    package init(major: UInt32, minor: UInt32) {
        self.major = major
        self.minor = minor
    }
}

/// The mounted filesystems.
package enum MountTable {
    /// All mounts, each after those that it covers.
    /// - Parameter process: The process whose mounts to list; by default this one.
    /// - Throws: An `Errno`.
    package static func read(of process: Int32? = nil) throws -> [MountedFileSystem] {
        let owner = process.map(String.init) ?? "self"
        let table = try FileBytes.readIfPresent(FilePath("/proc/\(owner)/mountinfo"), limit: 1 << 26) ?? []
        return table.split(separator: UInt8(ascii: "\n")).compactMap(entry)
    }

    /// The topmost mount at exactly this path, which must not contain links; nil if there is none.
    package static func top(at path: FilePath) throws -> MountedFileSystem? {
        try read().last { $0.path == path }
    }

    /// The mount whose root this mount lies on; nil if it lies on a directory in a mount.
    package static func mount(below number: UInt64) throws -> MountedFileSystem? {
        let all = try read()
        guard let upper = all.first(where: { $0.number == number }) else { return nil }
        return all.first { $0.number == upper.parent && $0.number != number && $0.path == upper.path }
    }

    /// The mount that an open file is on.
    package static func mount(of file: Int32) throws -> MountedFileSystem? {
        let number = try cmount_identity(of: file).number
        return try read().first { $0.number == number }
    }

    /// `36 35 98:0 / /mnt rw,noatime shared:1 - ext3 /dev/root rw`
    private static func entry(_ line: ArraySlice<UInt8>) -> MountedFileSystem? {
        let fields = line.split(separator: UInt8(ascii: " "))
        guard let dash = fields.firstIndex(where: { $0.elementsEqual("-".utf8) }), dash >= 6, fields.count > dash + 2
        else { return nil }
        let device = fields[2].split(separator: UInt8(ascii: ":")).compactMap { UInt32(text($0)) }
        guard let number = UInt64(text(fields[0])), let parent = UInt64(text(fields[1])), device.count == 2 else {
            return nil
        }
        return MountedFileSystem(
            number: number, parent: parent, device: DeviceNumber(major: device[0], minor: device[1]),
            root: path(fields[3]), path: path(fields[4]),
            flags: text(fields[5]).split(separator: ",").map(String.init),
            type: text(fields[dash + 1]),
            source: String(decoding: MountTableEscapes.unescaped(fields[dash + 2]), as: UTF8.self),
            user: fields.count > dash + 3 ? user(text(fields[dash + 3])) : nil,
            allowsOther: fields.count > dash + 3 && text(fields[dash + 3]).split(separator: ",").contains("allow_other")
        )
    }

    /// From `rw,user_id=1000,group_id=1000`.
    private static func user(_ options: String) -> MountedFileSystem.User? {
        func number(_ name: String) -> UInt32? {
            options.split(separator: ",").first { $0.hasPrefix(name) }.flatMap { UInt32($0.dropFirst(name.count)) }
        }
        guard let id = number("user_id="), let group = number("group_id=") else { return nil }
        return MountedFileSystem.User(id: id, group: group)
    }

    private static func path(_ field: ArraySlice<UInt8>) -> FilePath {
        FilePath(platformString: MountTableEscapes.unescaped(field).map { CChar(bitPattern: $0) } + [0])
    }

    private static func text(_ field: ArraySlice<UInt8>) -> String { String(decoding: field, as: UTF8.self) }
}

extension cmount_identity {
    /// The mount that an open file is on, found without a request to the mount's daemon, which may hang.
    init(of file: Int32) throws(Errno) {
        self.init()
        let error = cmount_identify(file, &self)
        guard error == 0 else { throw Errno(rawValue: error) }
    }
}
