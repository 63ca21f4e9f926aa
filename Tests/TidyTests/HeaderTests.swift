import Foundation
import Testing

/// A C header only declares what the file with its name defines.
@Suite struct HeaderTests {
    @Test func headersDeclareWhatTheirFileDefines() throws {
        var found = 0
        for header in SourceTree.files(below: "Sources/CFuse", suffix: ".h") where !header.path.contains("/include/") {
            let source = SourceTree.document(header.path.dropLast(2) + ".c") ?? ""
            for line in header.lines where !line.hasPrefix("static ") {
                guard let match = line.firstMatch(of: #/^\w[\w *]*?(\w+)\([^()]*\);$/#) else { continue }
                found += 1
                let start = line.dropLast()
                #expect(source.contains("\n\(start) {"), "\(header.path): \(match.1) is defined elsewhere")
            }
            #expect(!header.lines.contains { $0.hasPrefix("extern ") }, "\(header.path) declares a variable")
        }
        #expect(found > 20)
    }
}
