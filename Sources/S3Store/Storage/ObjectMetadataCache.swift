import PathStore
import Threads

/// Caches the metadata of listed objects. A listing has no metadata, and requesting it for each object in each listing
/// would be too expensive. An entry is valid for one state of an object, as the listing shows it.
final class ObjectMetadataCache: Sendable {
    struct Note: Hashable, Sendable {
        var tag: String
        var size: Int64
        /// As text, like in the listing.
        var modified: String
        var kind: PathKind
        var attributes: PathAttributes
    }

    /// Each takes about 300 bytes.
    private static let most = 50_000
    private let notes = Locked<[[UInt8]: Note]>([:])

    /// The metadata of a listed object; nil if it was not seen in this state.
    func note(_ object: ListAnswer.Object) -> Note? {
        notes.withLock { notes in
            guard let note = notes[object.key], note.tag == object.tag, note.size == object.size,
                note.modified == object.modified
            else { return nil }
            return note
        }
    }

    func add(_ key: [UInt8], _ note: Note) {
        notes.withLock { notes in
            if notes.count >= Self.most, notes[key] == nil { notes.removeAll() }
            notes[key] = note
        }
    }
}
