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
        return names.filter { $0.hasSuffix(suffix) && !$0.contains(".build/") }.sorted().map { file("\(folder)/\($0)") }
    }

    /// A document's text, or nil where there is no such document yet.
    static func document(_ path: String) -> String? {
        FileManager.default.fileExists(atPath: root.appending(path: path).path)
            ? file(path).lines.joined(separator: "\n") : nil
    }

    /// What is written for readers, except logs of the past.
    static let documents: [File] =
        ["README.md", "CONTRIBUTING.md", "SECURITY.md", "Benchmarks/README.md"].map(file)
        + ["docs", "Sources", "Tests", "Tools", "examples"].flatMap { files(below: $0, suffix: ".md") }

    /// Every word of the source, the tests and the scripts, and of the names of their files.
    static let words: Set<String> = {
        var found: Set<String> = []
        for folder in ["Sources", "Tests", "scripts", "Benchmarks", "Tools", "examples", "systemd", "packaging"] {
            for file in files(below: folder, suffix: "") where !isSkipped(file.path) {
                for line in [file.path] + file.lines {
                    for word in line.utf8.split(whereSeparator: { !isOfWord($0) }) {
                        found.insert(String(Substring(word)))
                    }
                }
            }
        }
        return found
    }()

    private static func isSkipped(_ path: String) -> Bool {
        path.hasSuffix(".md") || path.contains("/corpus/") || path.contains("/history/")
    }

    private static func isOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
        default: false
        }
    }

    static func exists(_ path: some StringProtocol) -> Bool {
        FileManager.default.fileExists(atPath: root.appending(path: String(path)).path)
    }

    /// The path from the root for one that is relative to a folder.
    static func path(_ path: String, from folder: String) -> String {
        var parts = folder.split(separator: "/")
        for part in path.split(separator: "/") where part != "." {
            if part == ".." { parts = parts.dropLast() } else { parts.append(part) }
        }
        return parts.joined(separator: "/")
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
