import PathStore
import Threads

/// Records the parts of large objects with their hashes, so that parts that the server has already are not sent again: those of
/// an upload that was interrupted, also by the end of the process, and those of the object that is replaced.
final class PartNotes: Sendable {
    /// The parts of one key.
    struct Note: Sendable, Codable {
        var key: [UInt8]
        var unfinished: Unfinished?
        var whole: Whole?
    }

    /// An upload that was begun and not completed.
    struct Unfinished: Sendable, Codable {
        var name: MultipartUpload.Name
        var size: Int64
        /// The size of each part except the last, in bytes.
        var length: Int64
        /// The hash of the object's headers, which can't be changed after the beginning.
        var headers: String
        /// The parts that were sent and acknowledged, by number, starting at 1.
        var parts: [Int: Part] = [:]
        /// When the last one was, in seconds since 1970 by the server's clock.
        var continuedAt: Int64?
    }

    struct Part: Hashable, Sendable, Codable {
        /// SHA-256.
        var hash: String
        /// The ETag.
        var tag: String
    }

    /// An object that was completed.
    struct Whole: Sendable, Codable {
        var tag: String
        var size: Int64
        var length: Int64
        /// The SHA-256 of each part.
        var hashes: [String]
        /// The ETag of each part.
        var tags: [String]?

        /// The range of a part; nil if it has none of this number.
        func range(_ number: Int) -> Range<Int64>? {
            guard hashes.indices.contains(number - 1), length > 0 else { return nil }
            let (start, isTooLarge) = Int64(number - 1).multipliedReportingOverflow(by: length)
            guard !isTooLarge, start < size else { return nil }
            return start..<start + min(length, size - start)
        }
    }

    /// Seconds after the last part after which an interrupted upload is abandoned: its parts cost their owner storage.
    static let longest: Int64 = 86_400

    /// Without a folder.
    private let memory = Locked<[[UInt8]: Note]>([:], rank: .innermost)
    private let notes: PersistentNotes<Note>?

    /// - Parameter folder: The store's folder; nil to record nothing on the disk.
    init(folder: String?) {
        notes = folder.map { PersistentNotes(folder: $0 + "/parts") }
    }

    /// What is known of the parts of a key. If that can't be read, everything is sent.
    func note(of key: [UInt8]) -> Note {
        let note = notes.map { $0.note(of: key) } ?? memory.withLock { $0[key] }
        guard let note, note.key == key else { return Note(key: key) }
        return note
    }

    /// Records it. A failure to write is ignored.
    func keep(_ note: Note) {
        guard let notes else { return memory.withLock { $0[note.key] = note } }
        notes.keep(note, of: note.key)
    }

    /// Records the parts of a completed object.
    func keepWhole(_ key: [UInt8], _ object: StoredObject, _ parts: LargeUpload.Outcome) {
        var note = note(of: key)
        note.whole = Whole(
            tag: object.tag, size: object.size, length: parts.length, hashes: parts.hashes, tags: parts.tags)
        keep(note)
    }

    /// Whether an interrupted upload may still be continued.
    func mayContinue(_ name: MultipartUpload.Name, now: Int64) -> Bool {
        guard let unfinished = note(of: name.key).unfinished, unfinished.name == name, !unfinished.parts.isEmpty else {
            return false
        }
        return (0...Self.longest).contains(now - (unfinished.continuedAt ?? name.begin))
    }
}
