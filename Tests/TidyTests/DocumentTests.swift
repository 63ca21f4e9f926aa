import Foundation
import Testing

/// What documents promise is there: pages, and tests of what they say.
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

    /// Every kind of store that comes along has a page.
    @Test func everyStoreHasAPage() {
        for name in ["directory", "sftp", "s3", "webdav", "rclone", "programs"] {
            #expect(SourceTree.document("docs/stores/\(name).md") != nil)
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
