import Foundation

/// The repository's own files, for what only the compiler can refuse.
enum SourceFiles {
    /// The texts of all Swift files directly in a folder of the repository.
    static func read(_ folder: String, from file: String = #filePath) throws -> [String] {
        let root = URL(fileURLWithPath: file).deletingLastPathComponent().appendingPathComponent("../../..")
        let path = root.appendingPathComponent(folder).standardizedFileURL
        let files = try FileManager.default.contentsOfDirectory(at: path, includingPropertiesForKeys: nil)
        return try files.filter { $0.pathExtension == "swift" }.map { try String(contentsOf: $0, encoding: .utf8) }
    }
}
