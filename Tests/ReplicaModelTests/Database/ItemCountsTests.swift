import ReplicaTestSupport
import SystemPackage
import Testing

@testable import ReplicaModel

@Suite struct ItemCountsTests {
    /// The sum of two sparse files of the maximum size overflows 64 bits, which used to crash every start.
    @Test func sumsOfAnySizesCanBeRead() throws {
        let folder = try BenchFolder()
        let database = try ReplicaDatabase(path: folder.path.appending("items.db").string)
        for number: UInt64 in 2...4 {
            let node = Node(number: ItemNumber(number), parent: nil, name: FileName("f"), kind: .file)
            node.fingerprint.size = .max
            try database.write { try ItemRow(node).write(to: $0, round: 0) }
        }
        #expect(try database.read { try ItemCounts.read(from: $0).bytes } == .max)
        try database.write { rows in
            for number: UInt64 in 2...4 { try ItemRow.delete(ItemNumber(number), from: rows) }
        }
        #expect(try database.read { try ItemCounts.read(from: $0).items } == 0)
        try database.close()
    }

    /// Rows that are changed in place say and count the same as rows that are written anew, whatever changed.
    @Test func countsFollowRowsChangedInPlace() throws {
        let folder = try BenchFolder()
        let databases = try ["changed.db", "anew.db"].map {
            try ReplicaDatabase(path: folder.path.appending($0).string)
        }
        var random = SeededGenerator(1)
        let nodes = (2...9).map { Node(number: ItemNumber($0), parent: nil, name: FileName("f"), kind: .file) }
        var rows: [ItemRow] = []
        for step in 0..<400 {
            let node = nodes[Int.random(in: 0..<nodes.count, using: &random)]
            switch Int.random(in: 0..<7, using: &random) {
            case 0: node.name = FileName("f\(step)")
            case 1: node.fingerprint.inode = UInt64(step)
            case 2:
                node.flags.formSymmetricDifference(NodeFlags(rawValue: 1 << UInt32.random(in: 0..<15, using: &random)))
            case 3: node.fingerprint.size = Int64(step)
            case 4: node.dirty.formSymmetricDifference(.contents)
            case 5: node.failure = node.failure == nil ? Failure(code: "c", message: "m", attempts: 1) : nil
            default:
                node.sent = SentPlace(parent: .root, name: node.name, template: ItemIdentifier("t\(step)"))
                node.materialization = node.materialization == .whole ? .dataless : .whole
            }
            rows.append(ItemRow(node))
        }
        for (database, hasRow) in zip(databases, [true, false]) {
            try database.write { transaction in
                for (step, row) in rows.enumerated() {
                    var row = row
                    row.hasRow = hasRow
                    try row.write(to: transaction, round: Int64(step))
                }
            }
        }
        let (changed, anew) = (databases[0], databases[1])
        #expect(try changed.read { try ItemCounts.read(from: $0) } == anew.read { try ItemCounts.read(from: $0) })
        for node in nodes {
            let rows = try databases.map { try $0.read { try ItemRow.of(node.number, in: $0) } }
            #expect(rows[0].map { "\($0)" } == rows[1].map { "\($0)" })
        }
        for database in databases { try database.close() }
    }
}
