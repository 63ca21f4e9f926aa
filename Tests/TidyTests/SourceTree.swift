import Foundation

/// The repository's own text, read once.
enum SourceTree {
    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// A text file below the root.
    struct File: Sendable {
        /// From the root: `Sources/FuseMount/Session.swift`.
        let path: String
        let lines: [String]

        /// The folder below `Sources` or `Tests`: the target's name.
        var target: String { String(path.split(separator: "/")[1]) }
        var isInSources: Bool { path.hasPrefix("Sources/") }
    }

    /// Every Swift file of Sources and Tests.
    static let swift: [File] = ["Sources", "Tests"].flatMap { files(below: $0, suffix: ".swift") }

    /// Files below a folder whose names end so, in the order of their paths.
    static func files(below folder: String, suffix: String) -> [File] {
        let start = root.appending(path: folder)
        let names = FileManager.default.enumerator(atPath: start.path)?.compactMap { $0 as? String } ?? []
        return names.filter { $0.hasSuffix(suffix) }.sorted().map { file("\(folder)/\($0)") }
    }

    /// A document's text, or nil where there is no such document yet.
    static func document(_ path: String) -> String? {
        FileManager.default.fileExists(atPath: root.appending(path: path).path)
            ? file(path).lines.joined(separator: "\n") : nil
    }

    private static func file(_ path: String) -> File {
        let data = FileManager.default.contents(atPath: root.appending(path: path).path) ?? Data()
        return File(path: path, lines: String(decoding: data, as: UTF8.self).components(separatedBy: "\n"))
    }
}

extension String {
    /// Without white space at its ends.
    var trimmed: String { trimmingCharacters(in: .whitespaces) }
    /// Whether it is a comment and nothing else.
    var isComment: Bool { trimmed.hasPrefix("//") }
    /// What stands before a `//`, good enough for finding words of the language.
    var code: String { components(separatedBy: "//")[0] }
}
