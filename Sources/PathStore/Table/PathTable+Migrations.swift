internal import GRDB

/// The schema: each migration is a step from an older version.
extension PathTable {
    static var migrations: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("paths") { database in
            try database.execute(
                sql: """
                    CREATE TABLE item (
                        id INTEGER PRIMARY KEY, parent INTEGER NOT NULL, name BLOB NOT NULL, kind INTEGER NOT NULL,
                        target BLOB, version TEXT, size INTEGER NOT NULL, token TEXT NOT NULL, revision INTEGER NOT NULL,
                        toldMode INTEGER, toldDate INTEGER, meantMode INTEGER, meantDate INTEGER, mark TEXT,
                        identity TEXT, hash BLOB, seenAt INTEGER, isListed INTEGER NOT NULL
                    );
                    CREATE UNIQUE INDEX itemByPlace ON item (parent, name);
                    CREATE INDEX itemByMark ON item (mark) WHERE mark IS NOT NULL;
                    CREATE INDEX itemByIdentity ON item (identity) WHERE identity IS NOT NULL;
                    CREATE INDEX itemListed ON item (id) WHERE isListed = 1;
                    CREATE TABLE change (sequence INTEGER PRIMARY KEY AUTOINCREMENT, id INTEGER NOT NULL UNIQUE);
                    CREATE TABLE intent (
                        number INTEGER PRIMARY KEY AUTOINCREMENT, deed INTEGER NOT NULL, item INTEGER NOT NULL,
                        parent INTEGER NOT NULL, name BLOB NOT NULL, kind INTEGER NOT NULL, target BLOB,
                        size INTEGER NOT NULL, hash BLOB, mark TEXT, base TEXT
                    );
                    CREATE INDEX intentByItem ON intent (item);
                    CREATE INDEX intentByMark ON intent (mark) WHERE mark IS NOT NULL;
                    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
                    INSERT INTO item (id, parent, name, kind, size, token, revision, isListed)
                        VALUES (0, -2, x'', 1, 0, '', 0, 0);
                    """)
        }
        migrator.registerMigration("left out") { database in
            try database.execute(
                sql: "CREATE TABLE leftOut (folder INTEGER PRIMARY KEY, count INTEGER NOT NULL, example TEXT NOT NULL)")
        }
        return migrator
    }
}
