import Foundation
import Threads

/// Records the modes of folders that are made writable, so that the next connection, also of another process, restores those that a
/// lost one left behind. May be lost at any time: then the mode stays.
final class FolderModeNotes: Sendable {
    private struct Note: Codable {
        var path: [UInt8]
        var mode: UInt32
    }

    private let modes: Locked<[[UInt8]: UInt32]>
    private let file: String
    private let disk = DiskQueue("replica.sftp.lifts")

    /// - Parameter folder: The store's folder.
    init(folder: String) {
        file = folder + "/lifted.json"
        // If it can't be read, nothing is restored.
        let data = try? Data(contentsOf: URL(filePath: file))
        let notes = data.flatMap { try? JSONDecoder().decode([Note].self, from: $0) } ?? []
        modes = Locked(Dictionary(notes.map { ($0.path, $0.mode) }) { $1 })
    }

    /// The server's paths, with the modes to restore.
    var all: [[UInt8]: UInt32] { modes.withLock { $0 } }

    /// Notes it, or nothing for a mode of nil.
    func note(_ mode: UInt32?, of paths: [[UInt8]]) async {
        await disk.run { [modes, file] () throws(Never) in
            modes.withLock { modes in
                for path in paths { modes[path] = mode }
                let notes = modes.map { Note(path: $0.key, mode: $0.value) }
                // A failure to write is ignored.
                try? JSONEncoder().encode(notes).write(to: URL(filePath: file), options: .atomic)
            }
        }
    }
}
