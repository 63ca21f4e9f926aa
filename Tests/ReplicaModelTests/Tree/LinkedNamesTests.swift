import Testing

@testable import ReplicaModel

/// The names of a hard-linked file.
@Suite struct LinkedNamesTests {
    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func namesAreAnOrderedSet(seed: UInt64) {
        var random = seed
        var names = LinkedNames()
        var model: [Node] = []
        let nodes = (0..<60).map { Node(number: ItemNumber($0), parent: nil, name: FileName("n"), kind: .file) }
        for step in 0..<5_000 {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let node = nodes[Int((random >> 33) % 60)]
            // Alternates between growing and shrinking.
            if (random >> 20) % 8 < (step / 500 % 2 == 0 ? 2 : 6) {
                names.remove(node)
                model.removeAll { $0 === node }
            } else {
                names.append(node)
                if !model.contains(where: { $0 === node }) { model.append(node) }
            }
            #expect(names.first === model.first, "seed \(seed)")
            #expect(names.isEmpty == model.isEmpty, "seed \(seed)")
        }
        #expect(names.nodes.map(\.number) == model.map(\.number), "seed \(seed)")
    }
}
