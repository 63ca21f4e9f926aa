import ReplicaModel

/// Entries by item and by place, packed: about 60 bytes for an entry with a name of ten bytes. A store may have
/// millions, most of them unused.
///
/// An item gets a slot when it is first mentioned, even if only as a folder of another item, and keeps it until the
/// table is compacted.
struct EntryTable {
    /// Flags for the known data of an item.
    struct Marks: OptionSet {
        let rawValue: UInt8
        /// It was seen at its place.
        static let known = Marks(rawValue: 1)
        /// It is an entry of its folder.
        static let attached = Marks(rawValue: 2)
        /// It may be at its place.
        static let hinted = Marks(rawValue: 4)
        /// Its entries are known completely.
        static let listed = Marks(rawValue: 8)
    }

    private static let root: UInt32 = 0

    private var columns = EntryColumns()
    private var keys = SlotTable()
    /// The entries of each listed folder.
    private var entries: [UInt32: SlotTable] = [:]

    init() { _ = intern(.root) }

    // MARK: Reading

    /// The number of items with a slot.
    var slots: Int { columns.marks.count }

    func marks(of key: ItemKey) -> Marks { slot(of: key).map { columns.marks[Int($0)] } ?? [] }

    func statusHash(of key: ItemKey) -> Int { slot(of: key).map { columns.statusHashes[Int($0)] } ?? 0 }

    /// The known or possible place of an item; nil if there is none.
    func place(of key: ItemKey) -> EntryPlace? {
        guard let slot = slot(of: key), columns.hasPlace(slot) else { return nil }
        return columns.place(at: slot)
    }

    /// The names from the root to an item; nil if they are not all known.
    func names(of key: ItemKey) -> [FileName]? {
        guard let slot = slot(of: key) else { return nil }
        var names: [FileName] = []
        var climb = Climb(from: slot, columns)
        while let here = climb.next() { names.append(columns.name(at: here)) }
        return climb.isAtRoot ? names.reversed() : nil
    }

    /// An item and its known parent folders, innermost first, without the root.
    func climb(from key: ItemKey) -> some Sequence<ItemKey> {
        let climb = slot(of: key).map { Climb(from: $0, columns) }
        return sequence(state: climb) { [columns] in $0?.next().map(columns.key) }
    }

    /// The path up to the root. Hints from different times can form a cycle; the path ends there.
    private struct Climb {
        private let columns: EntryColumns
        /// Nil at the end of the path.
        private var current: UInt32?
        /// The position when the number of steps was last a power of two: reaching it again means a cycle.
        private var mark: UInt32?
        private var (steps, limit) = (0, 1)

        init(from slot: UInt32, _ columns: EntryColumns) { (current, self.columns) = (slot, columns) }

        var isAtRoot: Bool { current == EntryTable.root }

        mutating func next() -> UInt32? {
            guard let here = current, here != EntryTable.root else { return nil }
            if steps == limit { (mark, steps, limit) = (here, 0, limit * 2) } else if here == mark { current = nil }
            guard current != nil else { return nil }
            steps += 1
            current = columns.hasPlace(here) ? columns.parents[Int(here)] : nil
            return here
        }
    }

    /// The item at a place in a listed folder.
    func entry(at place: EntryPlace) -> ItemKey? {
        guard let folder = slot(of: place.parent) else { return nil }
        return entry(in: folder, place.name).map { columns.key(at: $0) }
    }

    /// The entries of a listed folder.
    func entries(of folder: ItemKey) -> [ItemKey] {
        guard let slot = slot(of: folder), let table = entries[slot] else { return [] }
        return table.slots.map { columns.key(at: $0) }
    }

    // MARK: Changing

    mutating func list(_ key: ItemKey) {
        let slot = intern(key)
        columns.mark(slot, columns.marks[Int(slot)].union(.listed))
        if entries[slot] == nil { entries[slot] = SlotTable() }
    }

    /// Adds an item at a free place in a listed folder.
    mutating func attach(_ key: ItemKey, statusHash: Int, at place: EntryPlace) {
        let slot = intern(key)
        detach(slot)
        let folder = move(slot, to: place)
        columns.statusHashes[Int(slot)] = statusHash
        columns.mark(slot, columns.marks[Int(slot)].subtracting(.hinted).union([.known, .attached]))
        enter(slot, in: folder)
        packIfSparse()
    }

    /// Removes an item from its folder's entries; its place stays known.
    mutating func detach(_ key: ItemKey) {
        if let slot = slot(of: key) { detach(slot) }
    }

    /// Moves a known item to a place in an unlisted folder, or in a listed one without making it an entry.
    mutating func place(_ key: ItemKey, statusHash: Int? = nil, at place: EntryPlace) {
        let slot = intern(key)
        detach(slot)
        _ = move(slot, to: place)
        if let statusHash { columns.statusHashes[Int(slot)] = statusHash }
        packIfSparse()
    }

    /// Records the status of an item that is already known.
    mutating func note(_ statusHash: Int, of key: ItemKey) {
        if let slot = slot(of: key) { columns.statusHashes[Int(slot)] = statusHash }
    }

    /// Records a hint about an unknown item.
    mutating func hint(_ key: ItemKey, at place: EntryPlace) {
        let slot = intern(key)
        _ = move(slot, to: place)
        columns.mark(slot, columns.marks[Int(slot)].union(.hinted))
        packIfSparse()
    }

    /// Drops the records of items.
    mutating func forget(_ gone: [ItemKey]) {
        for slot in gone.compactMap(slot(of:)) {
            detach(slot)
            entries[slot] = nil
            columns.mark(slot, [])
        }
        packIfSparse()
    }

    /// Turns all known places into hints; no folder is listed afterwards.
    mutating func loosen() {
        for slot in columns.marks.indices {
            let marks = columns.marks[slot]
            columns.mark(UInt32(slot), marks.isDisjoint(with: [.known, .hinted]) ? [] : .hinted)
        }
        entries = [:]
    }

    // MARK: Slots

    private func slot(of key: ItemKey) -> UInt32? { keys.first(key.hashValue) { columns.isKey(key, at: $0) } }

    private mutating func intern(_ key: ItemKey) -> UInt32 {
        if let slot = slot(of: key) { return slot }
        let slot = columns.add(key)
        let columns = columns
        keys.insert(slot, hash: key.hashValue) { columns.key(at: $0).hashValue }
        return slot
    }

    private mutating func enter(_ slot: UInt32, in folder: UInt32) {
        let columns = columns
        entries[folder]?.insert(slot, hash: columns.nameHash(at: slot)) { columns.nameHash(at: $0) }
    }

    private func entry(in folder: UInt32, _ name: FileName) -> UInt32? {
        entries[folder]?.first(EntryColumns.hash(name)) { columns.isName(name, at: $0) }
    }

    private mutating func detach(_ slot: UInt32) {
        guard columns.marks[Int(slot)].contains(.attached) else { return }
        columns.mark(slot, columns.marks[Int(slot)].subtracting(.attached))
        let columns = columns
        entries[columns.parents[Int(slot)]]?.remove(slot, hash: columns.nameHash(at: slot)) {
            columns.nameHash(at: $0)
        }
    }

    /// - Returns: The folder's slot.
    private mutating func move(_ slot: UInt32, to place: EntryPlace) -> UInt32 {
        let folder = intern(place.parent)
        columns.parents[Int(slot)] = folder
        if !columns.isName(place.name, at: slot) { columns.setName(place.name, at: slot) }
        return folder
    }

    /// Compacts the table once most of it is unused.
    private mutating func packIfSparse() {
        guard columns.isSparse else { return }
        var packed = EntryTable()
        for slot in columns.marks.indices.map({ UInt32($0) }) {
            let (key, marks) = (columns.key(at: slot), columns.marks[Int(slot)])
            if marks.contains(.listed) { packed.list(key) }
            guard columns.hasPlace(slot) else { continue }
            let copy = packed.intern(key)
            _ = packed.move(copy, to: columns.place(at: slot))
            packed.columns.statusHashes[Int(copy)] = columns.statusHashes[Int(slot)]
            packed.columns.mark(copy, marks)
        }
        for slot in packed.columns.marks.indices where packed.columns.marks[slot].contains(.attached) {
            packed.enter(UInt32(slot), in: packed.columns.parents[slot])
        }
        self = packed
    }
}
