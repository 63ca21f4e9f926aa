import ReplicaModel

/// Identifies an item: its original inode number, and the birth time, which distinguishes uses of the same inode
/// number.
struct ItemKey: Hashable, Sendable {
    var inode: UInt64
    /// Nanoseconds since the epoch.
    var birth: Int64
    /// 0, or a hash of the place if the file has several names, each of which is an item.
    var link: UInt64

    /// The store's root, with any inode.
    static let root = ItemKey(inode: 0, birth: 0, link: 0)

    init(inode: UInt64, birth: Int64, link: UInt64) {
        self.inode = inode
        self.birth = birth
        self.link = link
    }

    /// The key of the entry at `place` with this status.
    init(_ status: FileStatus, at place: EntryPlace) {
        if let key = status.placeKey {
            self = key
            return
        }
        if let inherited = status.inherited, status.links == 1 {
            self = inherited
            return
        }
        let hasLinks = status.kind == .file && status.links > 1
        self.init(inode: status.inode, birth: status.birth, link: hasLinks ? place.hash64 : 0)
    }

    /// The file's key, the same for all of its names.
    var file: ItemKey { ItemKey(inode: inode, birth: birth, link: 0) }

    /// Nil if the identifier can't be from this store.
    init?(_ identifier: ItemIdentifier) {
        if identifier == .root {
            self = .root
            return
        }
        let parts = identifier.rawValue.split(separator: "-", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), let inode = UInt64(parts[0], radix: 16), inode != 0,
            let birth = UInt64(parts[1], radix: 16)
        else { return nil }
        let link = parts.count == 3 ? UInt64(parts[2], radix: 16) : 0
        guard let link else { return nil }
        self.init(inode: inode, birth: Int64(bitPattern: birth), link: link)
    }

    var identifier: ItemIdentifier {
        if self == .root { return .root }
        let start = "\(hex(inode))-\(hex(UInt64(bitPattern: birth)))"
        return ItemIdentifier(link == 0 ? start : "\(start)-\(hex(link))")
    }
}

/// A name in a folder.
struct EntryPlace: Hashable, Sendable {
    var parent: ItemKey
    var name: FileName

    /// A hash that is the same in every process.
    var hash64: UInt64 {
        var hash = StableHash()
        hash.add(parent.inode)
        hash.add(UInt64(bitPattern: parent.birth))
        hash.add(name.bytes)
        return hash.value
    }
}

/// FNV-1a of 64 bits: small, and the same in every process, unlike Swift's own.
struct StableHash {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
        value = (value ^ 0xff) &* 0x100_0000_01b3
    }

    mutating func add(_ number: UInt64) {
        withUnsafeBytes(of: number.littleEndian) { add($0) }
    }
}

func hex(_ number: UInt64) -> String { String(number, radix: 16) }
