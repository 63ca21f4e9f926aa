import PathStore

/// Records the parts of large files with their hashes, so that bytes that the server has are not sent again: those of an upload
/// that was interrupted, also by the end of the process, and those of the file that is replaced.
package struct UploadNotes: Sendable {
    /// What is known of one path of the server.
    struct Note: Sendable, Codable {
        var unfinished: Unfinished?
        var whole: Whole?
        /// Only in the note that belongs to no path: the age of the files whose parts are known.
        var age: UInt64?
    }

    /// An upload that was begun and not published.
    struct Unfinished: Sendable, Codable {
        /// The path of its temporary file.
        var temporary: [UInt8]
        /// The size of the content.
        var size: Int64
        /// The size of each part except the last, in bytes.
        var length: Int64
        /// The SHA-256 of each part of which anything was sent, in order. A lost connection may still deliver bytes of these.
        var hashes: [String] = []
        /// How many of them the server has on its disk.
        var synced = 0
    }

    /// A file that was published.
    struct Whole: Sendable, Codable {
        /// No later write of another content can have this version.
        var version: String
        var length: Int64
        /// The SHA-256 of each part.
        var hashes: [String]
        /// Its owner and mode.
        var access: String?
        /// The age in which it was published. In a later age, the file may have been moved.
        var age: UInt64?
    }

    /// The size in bytes from which a file is sent in parts.
    let parted: Int64
    /// The size of a part.
    let part: Int64
    private static let mostParts: Int64 = 1_000
    private let notes: PersistentNotes<Note>
    /// The store's folder.
    let folder: String

    /// - Parameter folder: The store's folder.
    package init(folder: String, parted: Int64 = 32 << 20, part: Int64 = 16 << 20) {
        (self.folder, self.parted, self.part) = (folder, parted, part)
        notes = PersistentNotes(folder: folder + "/parts")
    }

    func note(of path: [UInt8]) -> Note { notes.note(of: path) ?? Note() }

    func keep(_ note: Note, of path: [UInt8]) { notes.keep(note, of: path) }

    /// Another file may be at the path from now on: its parts are not known.
    func forgetWhole(_ path: [UInt8]) {
        var note = note(of: path)
        guard note.whole != nil else { return }
        note.whole = nil
        keep(note, of: path)
    }

    /// The current age; a new one if its note is lost.
    func currentAge() -> UInt64 { note(of: []).age ?? forgetWholes() }

    /// Other files may be at any paths from now on: a new age begins.
    @discardableResult func forgetWholes() -> UInt64 {
        let age = UInt64.random(in: 0 ... .max)
        keep(Note(age: age), of: [])
        return age
    }

    /// The ranges of the parts of a content of this size.
    func parts(of size: Int64) -> [Range<Int64>] {
        let mebibyte: Int64 = 1 << 20
        let least = (size / Self.mostParts + mebibyte) / mebibyte * mebibyte
        let length = size / part < Self.mostParts ? part : least
        return stride(from: 0, to: size, by: Int64.Stride(length)).map { $0..<min($0 + length, size) }
    }
}
