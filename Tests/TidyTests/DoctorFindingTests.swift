import Foundation
import Testing

/// Each finding of `replica doctor` has a test that makes it true: one with the real program, on a machine or with a domain that has
/// that problem.
@Suite struct DoctorFindingTests {
    /// Those tests' text.
    private static let tests = SourceTree.swift
        .filter { $0.path.contains(#/MountIntegrationTests/Life/(Doctor\w*|HungMount)Tests\.swift$/#) }
        .flatMap(\.lines).joined(separator: "\n")

    /// The messages of findings that are not fine, as they are in the source.
    private static let messages: [String] = SourceTree.swift
        .filter { $0.path.hasPrefix("Sources/replica/Doctor/") }
        .flatMap { file in
            let text = file.lines.joined(separator: "\n")
            let literal =
                #/(?:\.(?:error|warning)\(\s*(?:\.\w+|check),|let message =)\s*"((?:[^"\\]|\\\((?:[^()]|\([^()]*\))*\))*)"/#
            return text.matches(of: literal).map { String($0.1) }
        }

    /// Four words of a message in a row, or all that stand between two values, are in a test.
    @Test func eachMessageIsInATestThatMakesItTrue() {
        #expect(Self.messages.count > 40)
        for message in Self.messages {
            let pieces = message.split(separator: #/\\\((?:[^()]|\([^()]*\))*\)/#).map { $0.split(separator: " ") }
            let runs = pieces.flatMap { words in
                words.count < 4 ? [words[...]] : (0...words.count - 4).map { words[$0..<$0 + 4] }
            }
            // Those that only pass on the system's reasons have none.
            let texts = runs.map { $0.joined(separator: " ") }.filter { $0.count > 8 }
            let isThere = texts.contains { Self.tests.contains($0) } || texts.isEmpty
            #expect(isThere, "no test makes it true: \(message)")
        }
    }
}
