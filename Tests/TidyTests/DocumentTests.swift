import Foundation
import Testing

/// Tests named in documents exist.
@Suite struct DocumentTests {
    /// `func NAME(` of each suite, which is a type whose name ends in `Tests`.
    static let tests: [String: Set<String>] = {
        var found: [String: Set<String>] = [:]
        for file in SourceTree.swift where !file.isInSources {
            var suite = file.target
            for line in file.lines {
                if let match = line.code.firstMatch(of: #/\b(?:struct|class|actor|enum|extension) (\w+Tests)\b/#) {
                    suite = String(match.1)
                }
                if let match = line.code.firstMatch(of: #/\bfunc `?(\w+)`?[(<]/#) {
                    found[suite, default: []].insert(String(match.1))
                    found[file.target, default: []].insert(String(match.1))
                }
            }
        }
        return found
    }()

    @Test(arguments: [
        "docs/SEMANTICS.md", "docs/CONFORMANCE.md", "docs/ARCHITECTURE.md", "docs/CONTROL.md",
        "docs/TROUBLESHOOTING.md", "README.md",
    ])
    func testsThatAreNamedExist(path: String) {
        guard let text = SourceTree.document(path) else { return }
        for match in text.matches(of: #/`(\w+Tests)[./](\w+)(?:\(\))?`/#) {
            let (suite, name) = (String(match.1), String(match.2))
            #expect(Self.tests[suite]?.contains(name) == true, "\(path) names \(suite).\(name), which isn't there")
        }
    }

    /// `MODEL.md#eviction`, `docs/decisions/trash.md`: what is referred to is in the repository.
    @Test func documentsThatAreReferredToExist() throws {
        let files =
            SourceTree.swift + SourceTree.files(below: "Sources", suffix: ".c")
            + SourceTree.files(below: "Sources", suffix: ".h") + SourceTree.files(below: "docs", suffix: ".md")
        var found = 0
        for file in files where !file.path.hasPrefix("Tests/TidyTests/") {
            for match in file.lines.joined(separator: "\n").matches(of: #/([\w./-]+\.md)(?:#([\w-]+))?/#) {
                found += 1
                let name = String(match.1).replacing("../", with: "")
                let places = [name, "docs/\(name)", "docs/decisions/\(name)"].filter { SourceTree.document($0) != nil }
                guard let place = places.first, let text = SourceTree.document(place) else {
                    Issue.record("\(file.path) refers to \(match.0), which isn't there")
                    continue
                }
                guard let section = match.2 else { continue }
                let headings = text.components(separatedBy: "\n").filter { $0.hasPrefix("#") }
                let anchors = headings.map { $0.drop { $0 == "#" }.lowercased().trimmed.replacing(" ", with: "-") }
                #expect(anchors.contains(String(section)), "\(file.path): \(place) has no section \(section)")
            }
        }
        #expect(found > 60)
    }

    /// Each message in the first cell of a row is in the source, word for word, or is the C library's.
    @Test(arguments: [("docs/TROUBLESHOOTING.md", 50)] + storePages.map { ($0, 7) })
    func messagesInTablesAreOurs(path: String, atLeast least: Int) throws {
        let text = try #require(SourceTree.document(path))
        let system: Set = [
            "Transport endpoint is not connected", "No route to host", "Network is down", "Stale file handle",
        ]
        let source = SourceTree.swift.filter(\.isInSources).flatMap(\.lines).joined(separator: "\n")
        // A store's page has other tables before its messages.
        let (from, isPage) = (text.range(of: "\n## Messages\n"), Self.storePages.contains(path))
        #expect(isPage == (from != nil), "\(path)")
        var found = 0
        for line in text[(from?.upperBound ?? text.startIndex)...].components(separatedBy: "\n") {
            guard let cell = line.firstMatch(of: #/^\| (`[^|]+`) \|/#)?.1 else { continue }
            for match in cell.matches(of: #/`([^`]+)`/#) {
                let message = String(match.1)
                found += 1
                #expect(system.contains(message) || source.contains(message), "\(path): not in the source: \(message)")
            }
        }
        #expect(found >= least)
    }

    private static let storePages = SourceTree.files(below: "docs/stores", suffix: ".md").map(\.path)

    /// Every kind of store that comes along has a page.
    @Test func everyStoreHasAPage() {
        for name in ["directory", "sftp", "s3", "webdav", "rclone", "programs"] {
            #expect(Self.storePages.contains("docs/stores/\(name).md"))
        }
    }

    @Test func everySectionOfSemanticsNamesATest() {
        guard let text = SourceTree.document("docs/SEMANTICS.md") else { return }
        for section in text.components(separatedBy: "\n## ").dropFirst() {
            let title = section.prefix { $0 != "\n" }
            #expect(section.firstMatch(of: #/`\w+Tests[./]\w+/#) != nil, "docs/SEMANTICS.md: \(title) names no test")
        }
    }

    /// One row for each of the 89 statements of CONFORMANCE.md: `| 7 | ... |`, which names a test that starts
    /// with `statement7` (or `statement07`), or has the word "argued" and says why it can't apply on Linux.
    @Test func everyStatementHasATestOrAnArgument() {
        guard let text = SourceTree.document("docs/CONFORMANCE.md") else { return }
        let names = Self.tests.values.reduce(into: Set<String>()) { $0.formUnion($1) }
        var rows: [Int: String] = [:]
        for line in text.components(separatedBy: "\n") {
            guard let match = line.firstMatch(of: #/^\| *(\d+) *\|/#), let number = Int(match.1) else { continue }
            #expect(rows[number] == nil, "statement \(number) has two rows")
            rows[number] = line
        }
        #expect(rows.keys.sorted() == Array(1...89))
        for (number, row) in rows where !row.contains("argued") {
            let named = row.matches(of: #/\bstatement0*(\d+)\w*/#).filter { Int($0.1) == number }.map { String($0.0) }
            #expect(!named.isEmpty, "statement \(number) names no test and isn't argued")
            for name in named { #expect(names.contains(name), "statement \(number): no test \(name)") }
        }
    }
}
