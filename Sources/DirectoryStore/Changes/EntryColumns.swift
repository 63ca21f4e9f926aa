import ReplicaModel

/// The fields of an ``EntryTable``'s items, one column per field, without padding.
struct EntryColumns {
    private var inodes: ContiguousArray<UInt64> = []
    private var births: ContiguousArray<Int64> = []
    /// ``ItemKey/link``, if not 0.
    private var links: [UInt32: UInt64] = [:]
    var statusHashes: ContiguousArray<Int> = []
    /// The slot of the folder.
    var parents: ContiguousArray<UInt32> = []
    /// The offset of the name in ``text``.
    private var names: ContiguousArray<UInt32> = []
    private(set) var marks: ContiguousArray<EntryTable.Marks> = []
    /// Names, each after its length. The first one is empty.
    private var text: ContiguousArray<UInt8> = [0, 0]
    /// The bytes of ``text`` that are no longer used by any name.
    private var unusedText = 0
    /// The number of slots without marks.
    private var blanks = 0

    /// Whether less than half of it is in use. Folders that are only known as parents of entries have no marks; there
    /// are never more of them than of other items.
    var isSparse: Bool { blanks > marks.count / 2 + 1_024 || unusedText > text.count / 2 + 65_536 }

    mutating func add(_ key: ItemKey) -> UInt32 {
        let slot = UInt32(marks.count)
        inodes.append(key.inode)
        births.append(key.birth)
        if key.link != 0 { links[slot] = key.link }
        statusHashes.append(0)
        parents.append(0)
        names.append(0)
        marks.append([])
        blanks += 1
        return slot
    }

    mutating func mark(_ slot: UInt32, _ new: EntryTable.Marks) {
        let old = marks[Int(slot)]
        blanks += (new.isEmpty ? 1 : 0) - (old.isEmpty ? 1 : 0)
        marks[Int(slot)] = new
    }

    func hasPlace(_ slot: UInt32) -> Bool { !marks[Int(slot)].isDisjoint(with: [.known, .hinted]) }

    func key(at slot: UInt32) -> ItemKey {
        ItemKey(inode: inodes[Int(slot)], birth: births[Int(slot)], link: links.isEmpty ? 0 : links[slot] ?? 0)
    }

    func isKey(_ key: ItemKey, at slot: UInt32) -> Bool {
        inodes[Int(slot)] == key.inode && self.key(at: slot) == key
    }

    func place(at slot: UInt32) -> EntryPlace {
        EntryPlace(parent: key(at: parents[Int(slot)]), name: name(at: slot))
    }

    // MARK: Names

    func name(at slot: UInt32) -> FileName { FileName(bytes: Array(text[range(ofNameAt: slot)])) }

    func isName(_ name: FileName, at slot: UInt32) -> Bool {
        let range = range(ofNameAt: slot)
        guard range.count == name.bytes.count else { return false }
        return text.withUnsafeBufferPointer { text in
            name.bytes.withUnsafeBufferPointer { $0.elementsEqual(text[range]) }
        }
    }

    mutating func setName(_ name: FileName, at slot: UInt32) {
        let old = range(ofNameAt: slot)
        if !old.isEmpty { unusedText += old.count + Self.lengthBytes }
        names[Int(slot)] = UInt32(text.count)
        // vfat and others have names of more than 255 bytes.
        let count = min(name.bytes.count, Int(UInt16.max))
        text.append(UInt8(truncatingIfNeeded: count))
        text.append(UInt8(truncatingIfNeeded: count >> 8))
        text.append(contentsOf: name.bytes.prefix(count))
    }

    func nameHash(at slot: UInt32) -> Int {
        text.withUnsafeBytes { Self.hash(UnsafeRawBufferPointer(rebasing: $0[range(ofNameAt: slot)])) }
    }

    static func hash(_ name: FileName) -> Int { name.bytes.withUnsafeBytes { hash($0) } }

    private static func hash(_ bytes: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: bytes)
        return hasher.finalize()
    }

    /// The length of the prefix of each name: its number of bytes, low byte first.
    private static let lengthBytes = 2

    private func range(ofNameAt slot: UInt32) -> Range<Int> {
        let start = Int(names[Int(slot)])
        let first = start + Self.lengthBytes
        return first..<first + (Int(text[start]) | Int(text[start + 1]) << 8)
    }
}
