internal import Foundation
internal import HTTPClient

/// The observed features of a server, saved in a file of the store: a store is opened often, and its user waits for it.
package struct SavedAbilities<Abilities: Codable & Sendable>: Sendable {
    /// The store's folder.
    package let folder: String
    private var path: String { folder + "/abilities.json" }

    /// - Parameter folder: The folder of the file, which may be lost at any time.
    package init(folder: String) { self.folder = folder }

    private struct Note: Codable {
        /// The key.
        var server: String
        var abilities: Abilities
        /// In seconds since 1970.
        var moment: Int64
    }

    /// Seconds after which the tests are repeated, because servers are upgraded.
    private static var longest: Int64 { 7 * 86_400 }

    /// The recorded features of a server.
    /// - Returns: Nil if there are none, or they are outdated.
    package func abilities(of server: String) -> Abilities? {
        // If the file can't be read, the server is tested again.
        guard let data = try? Data(contentsOf: URL(filePath: path)),
            let note = try? JSONDecoder().decode(Note.self, from: data), note.server == server,
            (0...Self.longest).contains(ServerTime.localNow - note.moment)
        else { return nil }
        return note.abilities
    }

    /// Saves what was observed; a failure to write is ignored.
    package func note(_ abilities: Abilities, of server: String) {
        let note = Note(server: server, abilities: abilities, moment: ServerTime.localNow)
        guard let data = try? JSONEncoder().encode(note) else { return }
        try? data.write(to: URL(filePath: path), options: .atomic)
    }
}
