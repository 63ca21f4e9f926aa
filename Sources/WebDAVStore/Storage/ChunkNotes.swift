import Foundation
import HTTPClient
import Threads

/// Records unfinished uploads in chunks, so that they can be continued, even by another process: which chunks are on
/// the server, and for which bytes. Servers remove abandoned ones after a day.
final class ChunkNotes: Sendable {
    /// One upload.
    struct Note: Hashable, Sendable, Codable {
        /// The name of its folder on the server.
        var name: String
        /// The URL of the file.
        var target: String
        var size: Int64
        /// The size of each chunk except the last, in bytes.
        var chunk: Int64
        /// The SHA-256 of each chunk that the server has, by its number, starting at 1.
        var hashes: [Int: String] = [:]
        /// When it was begun, in seconds since 1970.
        var begun = ServerTime.localNow
    }

    /// Seconds after which a server may have removed chunks.
    private static let longest: Int64 = 20 * 3_600
    private let notes: Locked<[String: Note]>
    private let path: String?

    /// - Parameter folder: Where they are noted; nil if they are not.
    init(folder: String?) {
        path = folder.map { $0 + "/uploads.json" }
        // If it can't be read, uploads start again.
        let data = path.flatMap { try? Data(contentsOf: URL(filePath: $0)) }
        notes = Locked(data.flatMap { try? JSONDecoder().decode([String: Note].self, from: $0) } ?? [:])
    }

    /// The unfinished upload of a file of this size to this URL, or a new one.
    func note(of target: String, size: Int64, chunk: Int64) -> Note {
        notes.withLock { notes in
            notes = notes.filter { (0...Self.longest).contains(ServerTime.localNow - $0.value.begun) }
            if let note = notes[target], note.size == size, note.chunk == chunk { return note }
            return Note(name: "replica-\(UInt64.random(in: 0 ... .max))", target: target, size: size, chunk: chunk)
        }
    }

    /// Records the state of an upload.
    func keep(_ note: Note) { change { $0[note.target] = note } }

    /// Removes an upload that has ended.
    func end(_ note: Note) { change { $0[note.target] = nil } }

    private func change(_ body: (inout [String: Note]) -> Void) {
        notes.withLock { notes in
            body(&notes)
            // A failure to write is ignored.
            guard let path, let data = try? JSONEncoder().encode(notes) else { return }
            try? data.write(to: URL(filePath: path), options: .atomic)
        }
    }
}
