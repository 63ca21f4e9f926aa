internal import GRDB

/// The schema: each migration is a step from an older version.
extension ReplicaDatabase {
    /// The texts are what databases on users' disks have been made with, so they have plain numbers of flags and are never
    /// changed: 1057 is deleted, writing and needsListing, 65 is conflict and deleted, 64 is conflict (``RowCondition``).
    static var migrations: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("items") { database in
            try database.execute(
                sql: """
                    CREATE TABLE item (
                        number INTEGER PRIMARY KEY, shown INTEGER NOT NULL, parent INTEGER NOT NULL, name BLOB NOT NULL,
                        kind INTEGER NOT NULL, inode INTEGER NOT NULL, born INTEGER NOT NULL, size INTEGER NOT NULL,
                        modified INTEGER NOT NULL, changed INTEGER NOT NULL, mode INTEGER NOT NULL,
                        materialization INTEGER NOT NULL, pin INTEGER NOT NULL, flags INTEGER NOT NULL,
                        dirty INTEGER NOT NULL, usedAt REAL NOT NULL,
                        identifier TEXT, baseParent INTEGER, baseName BLOB, baseContent TEXT, baseMetadata TEXT,
                        baseSize INTEGER, capabilities INTEGER, uploaded INTEGER,
                        errorCode TEXT, errorMessage TEXT, attempts INTEGER, retryAt REAL, ranges BLOB,
                        here INTEGER NOT NULL, conflictOf TEXT, conflictAt REAL, template TEXT, sentSize INTEGER,
                        sentModified INTEGER, sentParent INTEGER, sentName BLOB, placeParent INTEGER, placeName BLOB
                    );
                    CREATE INDEX itemByParent ON item (parent, name);
                    CREATE INDEX itemByInode ON item (inode);
                    CREATE INDEX itemByIdentifier ON item (identifier) WHERE identifier IS NOT NULL;
                    CREATE INDEX itemByBaseParent ON item (baseParent) WHERE baseParent IS NOT NULL;
                    CREATE INDEX itemPending ON item (number) WHERE dirty != 0 OR flags & 1057 != 0;
                    CREATE TABLE incoming (identifier TEXT PRIMARY KEY, sequence INTEGER NOT NULL, item TEXT,
                        asked INTEGER NOT NULL);
                    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
                    CREATE TABLE former (identifier TEXT PRIMARY KEY, number INTEGER NOT NULL);
                    CREATE INDEX itemConflict ON item (number) WHERE flags & 65 = 64;
                    CREATE INDEX itemPin ON item (number) WHERE pin = 1;
                    """)
            try database.execute(sql: ItemCounts.schema)
        }
        migrator.registerMigration("unanswered calls are pending") { database in
            try database.execute(
                sql: """
                    DROP INDEX itemPending;
                    CREATE INDEX itemPending ON item (number)
                        WHERE dirty != 0 OR flags & 1057 != 0 OR placeName IS NOT NULL OR sentName IS NOT NULL;
                    """)
        }
        migrator.registerMigration("setHistory") { try $0.execute(sql: ItemSetHistory.schema) }
        migrator.registerMigration("rounds") { database in
            // Older rows are assumed to be on the disk.
            try database.execute(
                sql: """
                    ALTER TABLE item ADD COLUMN syncedSize INTEGER;
                    ALTER TABLE item ADD COLUMN round INTEGER NOT NULL DEFAULT 0;
                    """)
        }
        migrator.registerMigration("names of one file") { database in
            try database.execute(sql: "CREATE INDEX itemShown ON item (shown) WHERE shown != number")
        }
        migrator.registerMigration("setAside") { try $0.execute(sql: SetAsideRows.schema) }
        migrator.registerMigration("setHistoryFromAnywhere") { try $0.execute(sql: ItemSetHistory.startAnew) }
        migrator.registerMigration("superseded") { try $0.execute(sql: SupersededRows.schema) }
        migrator.registerMigration("counts of changed rows") { try $0.execute(sql: ItemCounts.triggerOfChanges) }
        migrator.registerMigration("inode numbers by name") { database in
            try database.execute(
                sql: """
                    DROP INDEX itemShown;
                    ALTER TABLE item RENAME COLUMN shown TO inodeNumber;
                    ALTER TABLE aside RENAME COLUMN shown TO inodeNumber;
                    ALTER TABLE superseded RENAME COLUMN shown TO inodeNumber;
                    ALTER TABLE setHistory RENAME COLUMN shown TO inodeNumber;
                    CREATE INDEX itemByInodeNumber ON item (inodeNumber) WHERE inodeNumber != number;
                    """)
        }
        migrator.registerMigration("counts of what stays here") { try $0.execute(sql: ItemCounts.countOfWhatStays) }
        return migrator
    }
}
