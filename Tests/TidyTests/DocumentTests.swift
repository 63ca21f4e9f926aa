import Foundation
import Testing

/// What documents promise is there: pages, and tests of what they say.
@Suite struct DocumentTests {
    /// The tests of each suite, which is a type whose name ends in `Tests`, and of each target: functions with `@Test`.
    static let tests = suites.tests

    private static let suites: (tests: [String: Set<String>], targets: [String: Set<String>]) = {
        var tests: [String: Set<String>] = [:]
        var targets: [String: Set<String>] = [:]
        for file in SourceTree.swift where !file.isInSources {
            var suite = file.target
            // Whether the next function is a test.
            var isTest = false
            for line in file.lines {
                if let match = line.code.firstMatch(of: #/\b(?:struct|class|actor|enum|extension) (\w+Tests)\b/#) {
                    suite = String(match.1)
                    targets[suite, default: []].insert(file.target)
                }
                if line.code.contains("@Test") { isTest = true }
                guard let match = line.code.firstMatch(of: #/\bfunc `?(\w+)`?[(<]/#) else { continue }
                if isTest {
                    tests[suite, default: []].insert(String(match.1))
                    tests[file.target, default: []].insert(String(match.1))
                }
                isTest = false
            }
        }
        return (tests, targets)
    }()

    /// A document names a test by its suite, without the target.
    @Test func eachSuiteHasItsOwnName() {
        #expect(Self.suites.targets.count > 200)
        for (suite, targets) in Self.suites.targets {
            #expect(targets.count == 1, "\(suite) is in \(targets.sorted())")
        }
    }

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
