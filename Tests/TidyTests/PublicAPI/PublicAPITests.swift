import Foundation
import Testing

/// What the library products make public is written down in `docs/api`, so that no change of it goes unseen.
@Suite struct PublicAPITests {
    @Test(arguments: ["FuseMount", "ReplicaModel", "ReplicaTestSupport"])
    func listingIsWhatTheModuleMakesPublic(module: String) throws {
        let files = SourceTree.files(below: "Sources/\(module)", suffix: ".swift")
        let found = PublicAPI(files: files.map { $0.lines.joined(separator: "\n") }).lines
        let path = "docs/api/\(module).txt"
        if ProcessInfo.processInfo.environment["REPLICA_WRITE_API"] != nil {
            let text = found.joined(separator: "\n") + "\n"
            try text.write(to: SourceTree.root.appending(path: path), atomically: true, encoding: .utf8)
        }
        let listed = (SourceTree.document(path) ?? "").components(separatedBy: "\n").filter { !$0.isEmpty }
        let difference = found.difference(from: listed)
        for change in difference.insertions { Issue.record("\(path) lacks: \(change.line)") }
        for change in difference.removals { Issue.record("\(module) no longer has: \(change.line)") }
        if !difference.isEmpty {
            Issue.record("where that is meant: REPLICA_WRITE_API=1 swift test --filter PublicAPITests")
        }
        #expect(found.count > 50)
    }

    @Test func declarationsAreFoundAsTheyAreWritten() {
        let source = """
            import Glibc
            /// A type { with a brace in its comment.
            public struct Shape: Sendable {
                public let name = "{ \\(1 + f("(")) "  // }
                public var size: Int64 = 0
                public internal(set) var mode: UInt32?
                var hidden: Int { 0 }
                @discardableResult
                public mutating func grow(
                    by count: Int = 1, _ body: @escaping (Int) -> Bool = { _ in true }
                ) throws -> Bool
                where Self: Sendable {
                    public_looking()
                }
                public var area: Int {
                    get { 1 }
                    set(value) { size = value }
                }
                struct Inner {
                    public var unseen: Int
                }
                public enum Kind { case one, two(Int) }
            }
            struct Secret { public var text: String }
            extension Secret { public func unseen() {} }
            protocol Hidden {}
            extension Shape: Hidden {}
            extension Shape: Codable where Self: Sized {
                public init(from decoder: any Decoder) throws { fatalError() }
                func hidden() {}
            }
            public protocol Drawn: AnyObject {
                associatedtype Ink
                var ink: Ink { get set }
                func draw(with ink: Ink)
            }
            """
        #expect(
            PublicAPI(files: [source]).lines == [
                "Drawn: associatedtype Ink",
                "Drawn: func draw(with ink: Ink)",
                "Drawn: var ink: Ink { get set }",
                "Shape where Self: Sized: init(from decoder: any Decoder) throws",
                "Shape.Kind: case one, two(Int)",
                "Shape: enum Kind",
                "Shape: let name = \"{ \\(1 + f(\"(\")) \"",
                "Shape: mutating func grow(by count: Int = 1, _ body: @escaping (Int) -> Bool = { _ in true }) throws"
                    + " -> Bool where Self: Sendable",
                "Shape: var area: Int { get set }",
                "Shape: var mode: UInt32? { get }",
                "Shape: var size: Int64",
                "extension Shape: Codable where Self: Sized",
                "protocol Drawn: AnyObject",
                "struct Shape: Sendable",
            ])
    }
}

extension CollectionDifference.Change where ChangeElement == String {
    fileprivate var line: String {
        switch self {
        case .insert(_, let line, _), .remove(_, let line, _): line
        }
    }
}
