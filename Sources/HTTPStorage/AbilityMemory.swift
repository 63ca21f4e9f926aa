internal import Foundation
internal import HTTPClient

/// What a server was seen to do, in a file of the store's own: a store is opened often, and waited for.
package struct AbilityMemory<Abilities: Codable & Sendable>: Sendable {
    /// Where the store has what is its own.
    package let folder: String
    private var path: String { folder + "/abilities.json" }

    /// - Parameter folder: Where the file is; it may be lost at any time.
    package init(folder: String) { self.folder = folder }

    private struct Note: Codable {
        /// What it is of.
        var server: String
        var abilities: Abilities
        /// In seconds since 1970.
        var moment: Int64
    }

    /// Seconds after which it is tried again: servers learn.
    private static var longest: Int64 { 7 * 86_400 }

    /// What is known of a server.
    /// - Returns: Nil where nothing is, or not any more.
    package func abilities(of server: String) -> Abilities? {
        // What cannot be read is tried.
        guard let data = try? Data(contentsOf: URL(filePath: path)),
            let note = try? JSONDecoder().decode(Note.self, from: data), note.server == server,
            (0...Self.longest).contains(Moment.now - note.moment)
        else { return nil }
        return note.abilities
    }

    /// Saves what was observed; a failure to write is ignored.
    package func note(_ abilities: Abilities, of server: String) {
        let note = Note(server: server, abilities: abilities, moment: Moment.now)
        guard let data = try? JSONEncoder().encode(note) else { return }
        try? data.write(to: URL(filePath: path), options: .atomic)
    }
}
