import Testing

@testable import ReplicaModel

/// The compact data structures of a tree.
@Suite struct NodeTableTests {
    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func aTableBehavesLikeADictionary(seed: UInt64) {
        var random = seed
        var table: NodeTable<ItemNumber> = [:]
        var model: [ItemNumber: Node] = [:]
        for step in 0..<20_000 {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            // Alternates between growing and shrinking.
            let number = ItemNumber((random >> 33) % 300)
            let isRemoval = (random >> 20) % 8 < (step / 2_000 % 2 == 0 ? 2 : 6)
            let node = isRemoval ? nil : Node(number: number, parent: nil, name: FileName("n"), kind: .file)
            table[number] = node
            model[number] = node
            #expect(table.count == model.count, "seed \(seed)")
        }
        for number in (0..<300 as Range<UInt64>).map({ ItemNumber($0) }) {
            #expect(table[number] === model[number], "seed \(seed)")
        }
        #expect(Set(table.values.map(\.number)) == Set(model.keys), "seed \(seed)")
    }

    @Test func aNameMovesToAnotherNode() {
        let left = Node(number: ItemNumber(2), parent: nil, name: FileName("one"), kind: .file)
        let right = Node(number: ItemNumber(3), parent: nil, name: FileName("one"), kind: .file)
        var table: NodeTable<FileName> = [FileName("one"): left]
        table[FileName("one")] = right
        #expect(table.count == 1)
        #expect(table[FileName("one")] === right)
    }

    @Test(arguments: ["", "a", String(repeating: "ä", count: 127), String(repeating: "x", count: 70_000)])
    func aBaseReturnsItsTexts(text: String) {
        let version = ItemVersion(content: text + "c", metadata: text + "m")
        var base = Base(
            identifier: ItemIdentifier("i" + text), parent: .root, name: FileName("n" + text), version: version,
            size: 7)
        #expect(base.identifier == ItemIdentifier("i" + text))
        #expect(base.name == FileName("n" + text))
        #expect(base.version == version)
        #expect(base.isIdentified(by: base.identifier) && !base.isIdentified(by: ItemIdentifier("other")))
        #expect(base.identifierHash == ItemIdentifier("i" + text).tableHash)
        base.version.content = text
        base.name = FileName(bytes: [0xFF, 0])
        #expect(base.version == ItemVersion(content: text, metadata: text + "m"))
        #expect(base.name.bytes == [0xFF, 0] && base.isNamed(base.name))
        #expect(base.identifier == ItemIdentifier("i" + text) && base.size == 7)
    }
}
