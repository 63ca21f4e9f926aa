import Foundation

/// Trees of files for tests.
enum FileTree {
    /// Creates files with these contents below `root`, and their folders.
    static func make(_ root: String, _ files: [String: String]) throws {
        for (path, text) in files {
            let full = root + "/" + path
            let folder = (full as NSString).deletingLastPathComponent
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try text.write(toFile: full, atomically: false, encoding: .utf8)
        }
    }
}
