import GRDB
import SystemPackage
import Testing

@testable import ReplicaModel

/// The numbers of flags, fields and kinds in SQL are those in the databases on people's disks.
@Suite struct SchemaTests {
    private static func withDatabase<Result>(_ body: (Database) throws -> Result) throws -> Result {
        let folder = try BenchFolder()
        let database = try ReplicaDatabase(path: folder.path.appending("items.db").string)
        defer { #expect(throws: Never.self) { try database.close() } }
        return try database.read(body)
    }

    @Test func conditionsEqualThoseOfTheIndexes() throws {
        let texts = try Self.withDatabase { rows in
            try String.fetchAll(
                rows,
                sql: """
                    SELECT sql FROM sqlite_master WHERE tbl_name = 'item'
                    AND (type = 'trigger' OR type = 'index' AND sql LIKE '% WHERE %') ORDER BY type, name
                    """)
        }
        func words(_ text: String) -> [Substring] { text.split(whereSeparator: \.isWhitespace) }
        #expect(words(texts.joined(separator: "\n")) == words(Self.onDisk))
    }

    /// SQLite only uses a partial index for a query with the same condition.
    @Test(arguments: [
        (RowCondition.mayBePending, "itemPending"), (RowCondition.isConflict, "itemConflict"),
        (RowCondition.isPinned, "itemPin"), ("(\(ItemSet.pending.condition))", "itemPending"),
        ("inodeNumber = ? AND inodeNumber != number AND \(RowCondition.isThere)", "itemByInodeNumber"),
    ])
    func queriesUseTheirIndex(condition: String, index: String) throws {
        let plan = try Self.withDatabase { rows in
            try Row.fetchAll(
                rows, sql: "EXPLAIN QUERY PLAN SELECT * FROM item WHERE \(condition)",
                arguments: condition.contains("?") ? [7] : []
            ).map { $0["detail"] as String }
        }
        #expect(plan.contains { $0.contains("USING INDEX \(index)") }, "\(plan)")
    }

    @Test func numbersAreNamed() {
        let flags: NodeFlags = [.deleted, .createSent, .excluded, .writing, .special, .refused, .reimport]
        #expect("flags & \(flags: flags) = 0" == "flags & 2867 = 0")
        #expect("\(fields: .contents) \(kind: .folder) \(materialization: .dataless) \(pin: .pinned)" == "1 1 2 1")
    }

    /// Of the version before the column `shown` became `inodeNumber`.
    @Test func aFormerDatabaseOpensWithItsRows() throws {
        let folder = try BenchFolder()
        let path = folder.path.appending("items.db").string
        let former = try DatabaseQueue(path: path)
        try ReplicaDatabase.migrations.migrate(former, upTo: "counts of changed rows")
        try former.write { rows in
            try rows.execute(
                sql: """
                    INSERT INTO item (number, shown, parent, name, kind, inode, born, size, modified, changed, mode,
                        materialization, pin, flags, dirty, usedAt, identifier, baseParent, baseName, baseContent,
                        baseMetadata, baseSize, capabilities, uploaded, here)
                    VALUES (7, 5, 1, x'6e', 0, 99, 0, 3, 0, 0, 420, 0, 0, 0, 0, 0, 'i', 1, x'6e', 'c', 'm', 3, 0, 0, 3);
                    -- A symlink that stays here, counted by other terms.
                    INSERT INTO item (number, shown, parent, name, kind, inode, born, size, modified, changed, mode,
                        materialization, pin, flags, dirty, usedAt, here)
                    VALUES (8, 8, 1, x'6f', 2, 98, 0, 3, 0, 0, 420, 0, 0, 16, 0, 0, 0);
                    UPDATE counts SET localOnly = 0;
                    INSERT INTO aside SELECT * FROM item WHERE number = 7;
                    INSERT INTO superseded SELECT * FROM item WHERE number = 7;
                    INSERT INTO setHistory VALUES (0, 7, 5, 'i', 1, 1);
                    """)
        }
        try former.close()
        let database = try ReplicaDatabase(path: path)
        try database.read { rows in
            let found = [
                try ItemRow.withOther(inodeNumber: ItemNumber(5), in: rows), try SetAsideRows.all(in: rows),
                try SupersededRows.of(ItemIdentifier("i"), before: 1, in: rows),
            ]
            #expect(found.map { $0.map(\.number) } == [[7], [7], [7]])
            #expect(found.map { $0.map(\.inodeNumber) } == [[5], [5], [5]])
            #expect(try Int64.fetchAll(rows, sql: "SELECT inodeNumber FROM setHistory") == [5])
            #expect(try ItemCounts.read(from: rows).items == 2)
            #expect(try ItemCounts.read(from: rows).localOnly == 1)
        }
        try database.write { try $0.execute(sql: "UPDATE item SET flags = \(flags: .deleted)") }
        #expect(try database.read { try ItemCounts.read(from: $0) }.items == 0)
        try database.close()
    }

    private static let onDisk = """
        CREATE INDEX itemByBaseParent ON item (baseParent) WHERE baseParent IS NOT NULL
        CREATE INDEX itemByIdentifier ON item (identifier) WHERE identifier IS NOT NULL
        CREATE INDEX itemByInodeNumber ON item (inodeNumber) WHERE inodeNumber != number
        CREATE INDEX itemConflict ON item (number) WHERE flags & 65 = 64
        CREATE INDEX itemPending ON item (number)
            WHERE dirty != 0 OR flags & 1057 != 0 OR placeName IS NOT NULL OR sentName IS NOT NULL
        CREATE INDEX itemPin ON item (number) WHERE pin = 1
        CREATE TRIGGER countDELETE AFTER DELETE ON item BEGIN UPDATE counts SET
            items = items - (OLD.flags & 1 = 0 AND OLD.number != 1),
            bytes = bytes - (OLD.kind = 0 AND OLD.flags & 257 = 0) * OLD.size,
            here = here - OLD.here,
            unsentBytes = unsentBytes - (OLD.kind = 0 AND OLD.dirty & 1 = 1 AND OLD.flags & 785 = 0) * OLD.size,
            errors = errors - (OLD.errorCode IS NOT NULL),
            conflicts = conflicts - (OLD.flags & 65 = 64),
            localOnly = localOnly - (OLD.flags & 1 = 0 AND OLD.flags & 272 != 0); END
        CREATE TRIGGER countINSERT AFTER INSERT ON item BEGIN UPDATE counts SET
            items = items + (NEW.flags & 1 = 0 AND NEW.number != 1),
            bytes = bytes + (NEW.kind = 0 AND NEW.flags & 257 = 0) * NEW.size,
            here = here + NEW.here,
            unsentBytes = unsentBytes + (NEW.kind = 0 AND NEW.dirty & 1 = 1 AND NEW.flags & 785 = 0) * NEW.size,
            errors = errors + (NEW.errorCode IS NOT NULL),
            conflicts = conflicts + (NEW.flags & 65 = 64),
            localOnly = localOnly + (NEW.flags & 1 = 0 AND NEW.flags & 272 != 0); END
        CREATE TRIGGER countUPDATE AFTER UPDATE ON item WHEN
            (NEW.flags & 1 = 0 AND NEW.number != 1) != (OLD.flags & 1 = 0 AND OLD.number != 1) OR
            (NEW.kind = 0 AND NEW.flags & 257 = 0) * NEW.size != (OLD.kind = 0 AND OLD.flags & 257 = 0) * OLD.size OR
            NEW.here != OLD.here OR
            (NEW.kind = 0 AND NEW.dirty & 1 = 1 AND NEW.flags & 785 = 0) * NEW.size
                != (OLD.kind = 0 AND OLD.dirty & 1 = 1 AND OLD.flags & 785 = 0) * OLD.size OR
            (NEW.errorCode IS NOT NULL) != (OLD.errorCode IS NOT NULL) OR
            (NEW.flags & 65 = 64) != (OLD.flags & 65 = 64) OR
            (NEW.flags & 1 = 0 AND NEW.flags & 272 != 0) != (OLD.flags & 1 = 0 AND OLD.flags & 272 != 0)
        BEGIN UPDATE counts SET
            items = items + (NEW.flags & 1 = 0 AND NEW.number != 1) - (OLD.flags & 1 = 0 AND OLD.number != 1),
            bytes = bytes + (NEW.kind = 0 AND NEW.flags & 257 = 0) * NEW.size
                - (OLD.kind = 0 AND OLD.flags & 257 = 0) * OLD.size,
            here = here + NEW.here - OLD.here,
            unsentBytes = unsentBytes + (NEW.kind = 0 AND NEW.dirty & 1 = 1 AND NEW.flags & 785 = 0) * NEW.size
                - (OLD.kind = 0 AND OLD.dirty & 1 = 1 AND OLD.flags & 785 = 0) * OLD.size,
            errors = errors + (NEW.errorCode IS NOT NULL) - (OLD.errorCode IS NOT NULL),
            conflicts = conflicts + (NEW.flags & 65 = 64) - (OLD.flags & 65 = 64),
            localOnly = localOnly + (NEW.flags & 1 = 0 AND NEW.flags & 272 != 0) - (OLD.flags & 1 = 0 AND OLD.flags & 272 != 0); END
        """
}
