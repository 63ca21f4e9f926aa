/// A hash table of numbers, at four bytes per cell. The caller defines their meaning, and so hash and equality.
struct SlotTable {
    private(set) var count = 0
    /// A number plus one, or 0 for a free cell. Linear probing: a number is in the first cell, starting from its hash,
    /// that was free when it was inserted; no free cell is in between.
    private var cells: ContiguousArray<UInt32> = []

    /// All numbers, unordered.
    var slots: some Sequence<UInt32> { cells.lazy.filter { $0 != 0 }.map { $0 - 1 } }

    /// The first number with this hash for which `isWanted` returns true.
    func first(_ hash: Int, where isWanted: (UInt32) -> Bool) -> UInt32? {
        guard !cells.isEmpty else { return nil }
        var index = home(of: hash)
        while cells[index] != 0 {
            if isWanted(cells[index] - 1) { return cells[index] - 1 }
            index = after(index)
        }
        return nil
    }

    /// Adds a number that is not in the table.
    mutating func insert(_ slot: UInt32, hash: Int, hashOf: (UInt32) -> Int) {
        if (count + 1) * 4 > cells.count * 3 { resize(to: max(4, cells.count * 3 / 2), hashOf: hashOf) }
        put(slot, hash: hash)
        count += 1
    }

    /// Removes a number that is in the table.
    mutating func remove(_ slot: UInt32, hash: Int, hashOf: (UInt32) -> Int) {
        var hole = home(of: hash)
        while cells[hole] != slot + 1 { hole = after(hole) }
        closeGap(at: hole, hashOf: hashOf)
        count -= 1
        if cells.count > 16, count * 4 < cells.count { resize(to: count * 2, hashOf: hashOf) }
    }

    /// Moves numbers that are not in their own cell closer to it, so that none is behind a free cell.
    private mutating func closeGap(at start: Int, hashOf: (UInt32) -> Int) {
        var hole = start
        var index = after(hole)
        while cells[index] != 0 {
            let home = home(of: hashOf(cells[index] - 1))
            let isBetween = hole < index ? hole < home && home <= index : hole < home || home <= index
            if !isBetween {
                cells[hole] = cells[index]
                hole = index
            }
            index = after(index)
        }
        cells[hole] = 0
    }

    private mutating func resize(to size: Int, hashOf: (UInt32) -> Int) {
        let old = slots
        cells = ContiguousArray(repeating: 0, count: size)
        for slot in old { put(slot, hash: hashOf(slot)) }
    }

    private mutating func put(_ slot: UInt32, hash: Int) {
        var index = home(of: hash)
        while cells[index] != 0 { index = after(index) }
        cells[index] = slot + 1
    }

    private func home(of hash: Int) -> Int {
        Int(((UInt(bitPattern: hash) >> 32) * UInt(cells.count)) >> 32)
    }

    private func after(_ index: Int) -> Int { index + 1 == cells.count ? 0 : index + 1 }
}
