import Foundation
import Testing

/// What documents refer to is in the repository: tests, files, symbols, sections.
@Suite struct DocumentReferenceTests {
    private static let documents = SourceTree.documents

    /// What stands between backquotes in a document, outside of code blocks.
    private static let quoted: [(path: String, text: String)] = documents.flatMap { file in
        let prose = file.lines.joined(separator: "\n").components(separatedBy: "```").enumerated()
            .filter { $0.offset % 2 == 0 }.map(\.element).joined(separator: "\n")
        return prose.components(separatedBy: "\n").flatMap { line in
            line.split(separator: "`", omittingEmptySubsequences: false).enumerated()
                .filter { $0.offset % 2 == 1 }.map { (file.path, String($0.element)) }
        }
    }

    @Test func documentsAreRead() {
        let paths = Set(Self.documents.map(\.path))
        for path in [
            "README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/SEMANTICS.md", "docs/decisions/trash.md",
            "docs/stores/s3.md", "Sources/FuseMount/FuseMount.docc/MountAFilesystem.md", "Tests/FuzzTests/README.md",
        ] { #expect(paths.contains(path)) }
        #expect(Self.quoted.count > 3_000)
    }

    @Test func testsThatAreNamedExist() {
        var found = 0
        for (path, text) in Self.quoted {
            guard let match = text.wholeMatch(of: #/(\w+Tests)(?:[./](\w+)(?:\(\))?)?/#) else { continue }
            found += 1
            let tests = DocumentTests.tests[String(match.1)]
            // The test targets of other packages have their own suites.
            let isTarget = SourceTree.exists("examples/outside-package/Tests/\(match.1)")
            let isThere = match.2.map { tests?.contains(String($0)) == true } ?? (tests != nil || isTarget)
            #expect(isThere, "\(path) names \(text), which isn't there")
        }
        #expect(found > 500)
    }

    @Test func filesThatAreNamedExist() {
        for (path, text) in Self.quoted {
            let folders = #/(?:Sources|Tests|docs|scripts|Benchmarks|examples|Tools|packaging|systemd|man)\/[\w.\/+-]*/#
            guard let name = text.prefixMatch(of: folders)?.0 else { continue }
            let isInPackage = path.hasPrefix("examples/") && SourceTree.exists("examples/outside-package/" + name)
            #expect(SourceTree.exists(name) || isInPackage, "\(path) names \(name), which isn't there")
        }
    }

    /// Of names in camel case that are Apple's, or of other programs.
    private static let others: Set = [
        "itemIdentifier", "NSFileProviderSyncAnchor", "localizedCompare", "DatabaseCollation", "DateFormatter",
        "NSRegularExpression", "FilesPlugin", "ChunkingPlugin", "ChunkingV2Plugin", "LockPlugin", "PartialUploads",
    ]

    @Test func symbolsThatAreNamedExist() {
        let words = SourceTree.words
        for (path, text) in Self.quoted {
            guard text.wholeMatch(of: #/[A-Za-z_]\w*(?:[.+\/][A-Za-z_]\w*)*(?:\([\w:]*\))?/#) != nil,
                text.contains(#/[a-z][A-Z]/#)
            else { continue }
            for word in text.split(whereSeparator: { !$0.isLetter && !$0.isNumber && $0 != "_" }) {
                let isKnown = words.contains(String(word)) || Self.others.contains(String(word))
                #expect(isKnown, "\(path) names \(text): there is no \(word)")
            }
        }
    }

    @Test func linksLeadSomewhere() {
        var found = 0
        for file in Self.documents {
            for match in file.lines.joined(separator: "\n").matches(of: #/\]\(([^)\s#:]*)(?:#([\w-]+))?\)/#) {
                found += 1
                let folder = file.path.split(separator: "/").dropLast().joined(separator: "/")
                let place = match.1.isEmpty ? file.path : SourceTree.path(String(match.1), from: folder)
                #expect(SourceTree.exists(place), "\(file.path) links to \(match.1), which isn't there")
                guard let section = match.2, let text = SourceTree.document(place) else { continue }
                expectSection(String(section), in: text, of: "\(file.path) links to \(place)")
            }
        }
        #expect(found > 100)
    }

    /// `MODEL.md#eviction`, `docs/decisions/trash.md`: what is referred to is in the repository.
    @Test func documentsThatAreReferredToExist() throws {
        let files =
            SourceTree.swift + SourceTree.files(below: "Sources", suffix: ".c")
            + SourceTree.files(below: "Sources", suffix: ".h") + Self.documents
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
                expectSection(String(section), in: text, of: "\(file.path): \(place)")
            }
        }
        #expect(found > 60)
    }

    /// The anchor of a heading is its text in lower case, with hyphens for blanks and without other signs.
    private func expectSection(_ section: String, in text: String, of what: String) {
        let headings = text.components(separatedBy: "\n").filter { $0.hasPrefix("#") }
        let anchors = headings.map { heading in
            heading.drop { $0 == "#" }.lowercased().trimmed.filter { $0.isLetter || $0.isNumber || "_- ".contains($0) }
                .replacing(" ", with: "-")
        }
        #expect(anchors.contains(section), "\(what) has no section \(section)")
    }
}
