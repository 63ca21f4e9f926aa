import Foundation
import Testing

/// Each test target's README says what it proves and what it can't.
@Suite struct TargetPageTests {
    @Test func eachTargetSaysWhatItProvesAndWhatItCannot() throws {
        let roots = ["Tests", "Tools/ReleaseTests/Tests", "examples/outside-package/Tests"]
        let targets = try roots.flatMap { root in
            try FileManager.default.contentsOfDirectory(atPath: SourceTree.root.appending(path: root).path)
                .map { (name: $0, path: "\(root)/\($0)/README.md") }
        }
        #expect(targets.count > 10)
        for (target, path) in targets {
            guard let text = SourceTree.document(path) else {
                Issue.record("there is no \(path)")
                continue
            }
            #expect(text.hasPrefix("# \(target)\n"), "\(path) has another title")
            for part in ["**Proves:**", "**Cannot show:**"] {
                let words = text.components(separatedBy: part).dropFirst().first?.split { $0.isWhitespace } ?? []
                #expect(words.count > 15, "\(path) says too little after \(part)")
            }
        }
    }
}
