import SystemPackage
import Testing

@testable import ReplicaModel

@Suite struct CountsTests {
    /// The sum of two sparse files of the maximum size overflows 64 bits, which used to crash every start.
    @Test func sumsOfAnySizesCanBeRead() throws {
        let folder = try BenchFolder()
        let database = try ReplicaDatabase(path: folder.path.appending("items.db").string)
        for number: UInt64 in 2...4 {
            let node = Node(number: ItemNumber(number), parent: nil, name: FileName("f"), kind: .file)
            node.fingerprint.size = .max
            try database.write { try ItemRow(node).write(to: $0, round: 0) }
        }
        #expect(try database.read { try Counts.read(from: $0).bytes } == .max)
        try database.write { rows in
            for number: UInt64 in 2...4 { try ItemRow.delete(ItemNumber(number), from: rows) }
        }
        #expect(try database.read { try Counts.read(from: $0).items } == 0)
        try database.close()
    }
}
