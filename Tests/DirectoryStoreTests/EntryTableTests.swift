import ReplicaModel
import Testing

@testable import DirectoryStore

/// The packed table says what plain dictionaries would.
@Suite struct EntryTableTests {
    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func aTableBehavesLikeDictionaries(seed: UInt64) {
        var dice = Dice(state: seed)
        var (table, model) = (EntryTable(), Model())
        let keys = (1...60).map { ItemKey(inode: $0, birth: 7, link: $0 % 9 == 0 ? $0 : 0) }
        table.list(.root)
        model.listed.insert(.root)
        for _ in 0..<20_000 {
            let key = keys[Int(dice.next() % 60)]
            let folder = dice.next() % 4 == 0 ? .root : keys[Int(dice.next() % 8)]
            let name = String(repeating: "n", count: Int(dice.next() % 30)) + "x"
            let place = EntryPlace(parent: folder, name: FileName(name))
            step(Int(dice.next() % 8), key, place, &table, &model)
        }
        for key in keys + [.root] {
            #expect(table.place(of: key) == model.places[key], "seed \(seed)")
            #expect(table.marks(of: key).contains(.listed) == model.listed.contains(key), "seed \(seed)")
            #expect(Set(table.entries(of: key)) == Set(model.entries.filter { $0.key.parent == key }.values))
        }
        for (place, key) in model.entries { #expect(table.entry(at: place) == key, "seed \(seed)") }
    }

    private func step(
        _ choice: Int, _ key: ItemKey, _ place: EntryPlace, _ table: inout EntryTable, _ model: inout Model
    ) {
        switch choice {
        case 0:
            table.list(key)
            model.listed.insert(key)
        case 1...3 where model.listed.contains(place.parent) && [nil, key].contains(model.entries[place]):
            table.attach(key, statusHash: Int(key.inode), at: place)
            model.detach(key)
            model.entries[place] = key
            model.places[key] = place
            #expect(table.statusHash(of: key) == Int(key.inode))
        case 4:
            table.detach(key)
            model.detach(key)
        case 5 where !table.marks(of: key).contains(.known):
            table.hint(key, at: place)
            model.places[key] = place
        case 6 where table.marks(of: key).contains(.known):
            table.place(key, at: place)
            model.detach(key)
            model.places[key] = place
        case 7 where table.entries(of: key).isEmpty:
            table.forget([key])
            model.detach(key)
            model.places[key] = nil
            model.listed.remove(key)
        default: break
        }
    }

    @Test(arguments: [1, 2, 3, 7, 100] as [UInt64]) func aCycleOfHintsIsDetected(length: UInt64) {
        var table = EntryTable()
        let keys = (0..<length).map { ItemKey(inode: 10 + $0, birth: 7, link: 0) }
        for (index, key) in keys.enumerated() {
            let above = keys[(index + 1) % keys.count]
            table.hint(key, at: EntryPlace(parent: above, name: FileName("n")))
        }
        let outside = ItemKey(inode: 5, birth: 7, link: 0)
        table.hint(outside, at: EntryPlace(parent: keys[0], name: FileName("n")))
        #expect(table.names(of: outside) == nil)
        #expect(Set(table.climb(from: outside)) == Set(keys + [outside]))
        table.hint(keys[0], at: EntryPlace(parent: .root, name: FileName("top")))
        #expect(table.names(of: outside) == [FileName("top"), FileName("n")])
    }

    @Test func droppedEntriesFreeMemory() {
        var table = EntryTable()
        table.list(.root)
        for inode in 1...100_000 as ClosedRange<UInt64> {
            let key = ItemKey(inode: inode, birth: 1, link: 0)
            table.attach(key, statusHash: 0, at: EntryPlace(parent: .root, name: FileName("file \(inode)")))
            if inode > 100 { table.forget([ItemKey(inode: inode - 100, birth: 1, link: 0)]) }
        }
        #expect(table.slots < 5_000)
        #expect(table.entries(of: .root).count == 100)
        #expect(table.entry(at: EntryPlace(parent: .root, name: FileName("file 99950")))?.inode == 99_950)
    }

    @Test func entriesBecomeHintsAfterLostEvents() {
        var table = EntryTable()
        let (folder, file) = (ItemKey(inode: 1, birth: 1, link: 0), ItemKey(inode: 2, birth: 1, link: 0))
        table.list(.root)
        table.list(folder)
        table.attach(folder, statusHash: 1, at: EntryPlace(parent: .root, name: FileName("folder")))
        table.attach(file, statusHash: 1, at: EntryPlace(parent: folder, name: FileName("file")))
        table.loosen()
        #expect(table.marks(of: file) == .hinted)
        #expect(table.marks(of: .root) == [])
        #expect(table.entry(at: EntryPlace(parent: folder, name: FileName("file"))) == nil)
        #expect(table.names(of: file) == [FileName("folder"), FileName("file")])
    }
}

private struct Model {
    var places: [ItemKey: EntryPlace] = [:]
    var entries: [EntryPlace: ItemKey] = [:]
    var listed: Set<ItemKey> = []

    mutating func detach(_ key: ItemKey) {
        if let place = places[key], entries[place] == key { entries[place] = nil }
    }
}
