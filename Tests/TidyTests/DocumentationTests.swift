import Testing

/// Every declaration that is visible to other modules has a doc comment.
///
/// Not asked of: what a protocol explains, ours or the standard library's; initializers; and properties of one
/// line, whose type and name often say all.
@Suite struct DocumentationTests {
    static let kinds = ["func", "struct", "class", "enum", "protocol", "var", "let", "actor", "subscript"]
    static let modifiers: Set = [
        "static", "final", "mutating", "nonmutating", "nonisolated", "override", "indirect", "borrowing", "consuming",
        "weak", "required",
    ]
    static let explained = [
        "var description", "var debugDescription", "var errorDescription", "func hash(into", "func encode(to",
        "func == ", "func < ", "func ==(", "func <(", "var rawValue", "func next()", "func makeIterator()", "var id:",
        "func makeAsyncIterator()", "func next(isolation",
    ]

    /// `func NAME` and `var NAME` of every protocol here: who conforms needs no words of its own.
    static let requirements: Set<String> = {
        var found: Set<String> = []
        for file in SourceTree.swift where file.isInSources {
            var end: String?
            for line in file.lines {
                if line.code.contains(#/\bprotocol \w+.*\{$/#) { end = line.prefix { $0 == " " } + "}" }
                if line == end { end = nil }
                guard end != nil, let match = line.code.firstMatch(of: #/\b(?:func|var) \w+/#) else { continue }
                found.insert(String(match.0))
            }
        }
        return found
    }()

    @Test func publicDeclarationsAreDocumented() {
        for file in SourceTree.swift where file.isInSources && file.target != "ReplicaTestSupport" {
            for (index, line) in file.lines.enumerated() where isPublicDeclaration(line) {
                if !isDocumented(index, in: file.lines) { Issue.record("\(file.path):\(index + 1): \(line.trimmed)") }
            }
        }
    }

    private func isPublicDeclaration(_ line: String) -> Bool {
        let words = line.code.split(separator: " ").map(String.init).drop { $0.hasPrefix("@") }
        guard let access = words.first, ["public", "open", "package"].contains(access) else { return false }
        let declaration = words.dropFirst().drop { Self.modifiers.contains($0) || $0.hasSuffix("(set)") }
        guard let kind = declaration.first, Self.kinds.contains(where: { kind == $0 || kind.hasPrefix("\($0)(") })
        else { return false }
        let text = declaration.joined(separator: " ")
        if Self.explained.contains(where: { text.hasPrefix($0) }) { return false }
        if let match = text.firstMatch(of: #/^(?:func|var) \w+/#), Self.requirements.contains(String(match.0)) {
            return false
        }
        return (kind != "var" && kind != "let") || text.hasSuffix("{")
    }

    /// A `///` above, with nothing but attributes and plain comments between.
    private func isDocumented(_ index: Int, in lines: [String]) -> Bool {
        for line in lines[..<index].reversed().map(\.trimmed) {
            if line.hasPrefix("///") { return true }
            if !line.hasPrefix("@") && !line.hasPrefix("//") && !line.hasPrefix("#if") { return false }
        }
        return false
    }
}
