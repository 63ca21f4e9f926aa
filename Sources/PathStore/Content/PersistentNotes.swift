internal import Foundation

/// A storage's notes about its paths, which outlive the process: a file for each in a folder. They may be lost at any time.
package struct PersistentNotes<Note: Codable & Sendable>: Sendable {
    /// The maximum number of notes; the oldest are forgotten.
    private static var most: Int { 1_000 }

    private let folder: String

    /// - Parameter folder: Created if it is missing, in a folder that exists.
    package init(folder: String) {
        self.folder = folder
        // If it can't be created, nothing is noted.
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    }

    private func place(_ key: [UInt8]) -> String { "\(folder)/\(hexadecimal(ContentHash.of(key)).prefix(40))" }

    /// Nil if there is none, or it can't be read.
    package func note(of key: [UInt8]) -> Note? {
        let data = try? Data(contentsOf: URL(filePath: place(key)))
        return data.flatMap { try? JSONDecoder().decode(Note.self, from: $0) }
    }

    /// Replaces the note of a key. A failure to write is ignored.
    package func keep(_ note: Note, of key: [UInt8]) {
        guard let data = try? JSONEncoder().encode(note) else { return }
        let place = place(key)
        if !FileManager.default.fileExists(atPath: place) { forgetOldest() }
        try? data.write(to: URL(filePath: place), options: .atomic)
    }

    private func forgetOldest() {
        // What can't be listed or removed stays.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        guard names.count >= Self.most else { return }
        func age(_ name: String) -> Date {
            // A note that is gone counts as the oldest.
            let attributes = try? FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")
            return attributes?[.modificationDate] as? Date ?? .distantPast
        }
        // A failure to remove one is ignored.
        let oldest = names.map { (name: $0, date: age($0)) }.sorted { $0.date < $1.date }.prefix(Self.most / 10)
        for (name, _) in oldest { try? FileManager.default.removeItem(atPath: "\(folder)/\(name)") }
    }
}
