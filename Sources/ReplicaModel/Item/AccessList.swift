/// The access control list of a file, in the format of `system.posix_acl_access` (acl(5)). If a file has one, the group
/// bits in the mode that `stat` returns are its mask: the maximum rights of all except the owner and others, not the
/// rights of the file's group.
package struct AccessList: Hashable, Sendable {
    /// The attribute's name.
    package static let attribute = "system.posix_acl_access"

    private enum Tag: UInt16 {
        case owner = 0x01
        case group = 0x04
        case mask = 0x10
        case others = 0x20
    }

    private static let version: [UInt8] = [2, 0, 0, 0]
    /// The size of an entry in bytes: tag and rights have two bytes each, the ID four, in little-endian order.
    private static let entrySize = 8

    /// The attribute's value.
    package private(set) var bytes: [UInt8]

    /// - Parameter bytes: Untrusted; the result is nil if they are not a valid list.
    package init?(_ bytes: [UInt8]) {
        guard bytes.starts(with: Self.version), (bytes.count - Self.version.count) % Self.entrySize == 0 else {
            return nil
        }
        self.bytes = bytes
        guard rights(of: .owner) != nil, rights(of: .group) != nil, rights(of: .others) != nil else { return nil }
    }

    /// The mode in which the group bits are the rights of the file's group.
    /// - Parameter status: The mode that `stat` returns.
    package func mode(_ status: UInt16) -> UInt16 {
        let group = (rights(of: .group) ?? 0) & (rights(of: .mask) ?? 7)
        return status & ~0o070 | group << 3
    }

    /// The list after a replicated mode is applied, whose group bits are the rights of the file's group. Other named
    /// users and groups keep their rights, and the mask grows only by what the group gains.
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
