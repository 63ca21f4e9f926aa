/// A file's access control list as `system.posix_acl_access` has it (acl(5)). With one, the group bits that `stat` shows are
/// its mask: the most that anybody but the owner and others may have, and not what the file's group has.
package struct AccessList: Hashable, Sendable {
    /// The attribute.
    package static let attribute = "system.posix_acl_access"

    private enum Tag: UInt16 {
        case owner = 0x01
        case group = 0x04
        case mask = 0x10
        case others = 0x20
    }

    private static let version: [UInt8] = [2, 0, 0, 0]
    /// Bytes of an entry: tag and rights in two bytes each, a number in four, the lowest byte first.
    private static let entrySize = 8

    /// The attribute's value.
    package private(set) var bytes: [UInt8]

    /// - Parameter bytes: Anything; nil where it is no list, as a filesystem or a broken one may give.
    package init?(_ bytes: [UInt8]) {
        guard bytes.starts(with: Self.version), (bytes.count - Self.version.count) % Self.entrySize == 0 else {
            return nil
        }
        self.bytes = bytes
        guard rights(of: .owner) != nil, rights(of: .group) != nil, rights(of: .others) != nil else { return nil }
    }

    /// A mode whose group bits are what the file's group has.
    /// - Parameter status: The mode that `stat` shows.
    package func mode(_ status: UInt16) -> UInt16 {
        let group = (rights(of: .group) ?? 0) & (rights(of: .mask) ?? 7)
        return status & ~0o070 | group << 3
    }

    /// The list after a mode came in whose group bits are meant for the file's group. Others who are named in it keep what they
    /// have, and the mask grows by no more than what the group gets.
    package func with(mode: UInt16) -> AccessList {
        var list = self
        let group = mode >> 3 & 7
        list.set(.owner, mode >> 6 & 7)
        list.set(.group, group)
        list.set(.others, mode & 7)
        if let mask = rights(of: .mask) { list.set(.mask, mask | group) }
        return list
    }

    private func start(of tag: Tag) -> Int? {
        stride(from: Self.version.count, to: bytes.count, by: Self.entrySize).first {
            UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8 == tag.rawValue
        }
    }

    private func rights(of tag: Tag) -> UInt16? {
        start(of: tag).map { UInt16(bytes[$0 + 2] & 7) }
    }

    private mutating func set(_ tag: Tag, _ rights: UInt16) {
        guard let start = start(of: tag) else { return }
        bytes[start + 2] = UInt8(rights)
        bytes[start + 3] = 0
    }
}
