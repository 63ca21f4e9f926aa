import Foundation
import SystemPackage

/// Copies of a replica's database, to be put back in its place.
struct DatabaseCopies {
    let folder: FilePath
    let database: FilePath

    private static let parts = ["", "-wal"]

    private func copy(_ name: String) -> String { folder.appending(name + ".db").string }

    func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: copy(name)) }

    /// Puts a copy away; nobody may be writing.
    func make(_ name: String) throws {
        for part in Self.parts {
            try? FileManager.default.removeItem(atPath: copy(name) + part)  // There is none yet at first.
            guard FileManager.default.fileExists(atPath: database.string + part) else { continue }
            try FileManager.default.copyItem(atPath: database.string + part, toPath: copy(name) + part)
        }
    }

    /// Puts a copy in the database's place; whoever has that open keeps it, under no name.
    func restore(_ name: String) throws {
        for part in Self.parts + ["-shm"] {
            try? FileManager.default.removeItem(atPath: database.string + part)  // Not all are always there.
        }
        for part in Self.parts where FileManager.default.fileExists(atPath: copy(name) + part) {
            try FileManager.default.copyItem(atPath: copy(name) + part, toPath: database.string + part)
        }
    }
}
