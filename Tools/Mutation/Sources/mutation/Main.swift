import Foundation
import SwiftParser
import SwiftSyntax

/// `mutation FOLDER SKIPPED FILE...`: gives each decision of the files, which lie in FOLDER, a switch by which a running
/// program decides otherwise, and prints the switches: number, file, line, kind, text. SKIPPED names a file with lines
/// `FILE:LINE` whose decisions stay as they are.
///
/// No line is added, so that the compiler's messages name the lines that were there.
@main enum Main {
    static func main() throws {
        let words = CommandLine.arguments
        guard words.count > 3 else { throw Usage() }
        let folder = URL(filePath: words[1])
        let skipped = try String(contentsOfFile: words[2], encoding: .utf8).split(separator: "\n").map(String.init)
        var next = 1
        for name in words[3...].sorted() {
            let file = folder.appending(path: name)
            let tree = Parser.parse(source: try String(contentsOf: file, encoding: .utf8))
            let mutator = Mutator(tree, file: name, first: next, skipping: Set(skipped))
            let mutated = mutator.rewrite(tree)
            try mutated.description.write(to: file, atomically: true, encoding: .utf8)
            next = mutator.next
            for site in mutator.sites { print(site) }
        }
    }

    struct Usage: Error, CustomStringConvertible {
        let description = "usage: mutation FOLDER SKIPPED FILE..."
    }
}
