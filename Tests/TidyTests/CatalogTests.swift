import Foundation
import Testing

/// The articles of the DocC catalogs show code that is built, and link to symbols that are public.
@Suite struct CatalogTests {
    private static let articles = ["FuseMount", "ReplicaModel", "ReplicaTestSupport"].flatMap { module in
        SourceTree.files(below: "Sources/\(module)/\(module).docc", suffix: ".md").map { (module, $0) }
    }
    private static let examples = SourceTree.files(below: "examples/outside-package", suffix: ".swift")
        .map { $0.lines.joined(separator: "\n") }

    @Test func codeIsCopiedFromTheExamples() {
        var found = 0
        for (_, article) in Self.articles {
            for block in article.lines.joined(separator: "\n").components(separatedBy: "```swift\n").dropFirst() {
                let code = block.components(separatedBy: "\n```")[0]
                found += 1
                let isBuilt = Self.examples.contains { $0.contains(code) }
                #expect(isBuilt, "\(article.path): no example has this code: \(code.prefix(60))")
            }
        }
        #expect(found >= 5)
    }

    @Test func linksLeadToPublicSymbols() throws {
        var found = 0
        for (module, article) in Self.articles {
            let listing = try #require(SourceTree.document("docs/api/\(module).txt")).components(separatedBy: "\n")
            let text = article.lines.joined(separator: "\n").replacing(#/```[^`]*```/#, with: "")
            for match in text.matches(of: #/``([^`]+)``/#) where match.1 != module {
                found += 1
                let parts = match.1.split(separator: "/")
                let name = parts.last.map { $0.prefix { $0.isLetter || $0.isNumber } } ?? ""
                let scope =
                    parts.count > 1
                    ? "\\Q\(parts.dropLast().joined(separator: "."))\\E[^:]*: (?:\\w+ )*" : "(?:final )?"
                let kinds = "(?:struct|class|enum|actor|protocol|typealias|let|var|func|case)"
                let declaration = try Regex("^\(scope)\(kinds) \(name)\\b")
                let isThere = listing.contains { $0.contains(declaration) }
                #expect(isThere, "\(article.path) links to \(match.1), which is not public")
            }
        }
        #expect(found > 50)
    }
}
