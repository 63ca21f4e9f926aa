import Foundation
import HTTPClient
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
    /// The maximum number of keys; the oldest are forgotten.
    private static let most = 1_000

    /// Without a folder.
    private let memory = Locked<[[UInt8]: Note]>([:], rank: .innermost)
    private let folder: String?

    /// - Parameter folder: The store's folder; nil to record nothing on the disk.
    init(folder: String?) {
        self.folder = folder.map { $0 + "/parts" }
        // If it can't be created, nothing is recorded.
        guard let own = self.folder else { return }
        try? FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: false)
    }

    private func path(_ key: [UInt8]) -> String? {
        folder.map { "\($0)/\(Hash.hexadecimal(Hash.sha256(key)).prefix(40))" }
    }

    /// What is known of the parts of a key.
    func note(of key: [UInt8]) -> Note {
        guard let path = path(key) else { return memory.withLock { $0[key] } ?? Note(key: key) }
        // If it can't be read, everything is sent.
        let data = try? Data(contentsOf: URL(filePath: path))
        guard let note = data.flatMap({ try? JSONDecoder().decode(Note.self, from: $0) }), note.key == key else {
            return Note(key: key)
        }
        return note
    }

    /// Records it. A failure to write is ignored.
    func keep(_ note: Note) {
        guard let folder, let path = path(note.key) else { return memory.withLock { $0[note.key] = note } }
        guard let data = try? JSONEncoder().encode(note) else { return }
        if !FileManager.default.fileExists(atPath: path) { forgetOldest(in: folder) }
        try? data.write(to: URL(filePath: path), options: .atomic)
    }

    /// Records the parts of a completed object.
    func keepWhole(_ key: [UInt8], _ object: StoredObject, _ parts: LargeUpload.Outcome) {
        var note = note(of: key)
        note.whole = Whole(
            tag: object.tag, size: object.size, length: parts.length, hashes: parts.hashes, tags: parts.tags)
        keep(note)
    }

    private func forgetOldest(in folder: String) {
        // What can't be listed or removed stays.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        guard names.count >= Self.most else { return }
        func age(_ name: String) -> Date {
            // One that is gone is the oldest.
            let attributes = try? FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")
            return attributes?[.modificationDate] as? Date ?? .distantPast
        }
        // A failure to remove one is ignored.
        let oldest = names.map { (name: $0, date: age($0)) }.sorted { $0.date < $1.date }.prefix(Self.most / 10)
        for (name, _) in oldest { try? FileManager.default.removeItem(atPath: "\(folder)/\(name)") }
    }

    /// Whether an interrupted upload may still be continued.
    func mayContinue(_ name: MultipartUpload.Name, now: Int64) -> Bool {
        guard let unfinished = note(of: name.key).unfinished, unfinished.name == name, !unfinished.parts.isEmpty else {
            return false
        }
        return (0...Self.longest).contains(now - (unfinished.continuedAt ?? name.begin))
    }
}
