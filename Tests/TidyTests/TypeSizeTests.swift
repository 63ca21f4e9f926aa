import Foundation
import Testing

/// A large type gives the reason why it is not divided.
@Suite struct TypeSizeTests {
    static let mostProperties = 12
    static let mostMethods = 25

    /// What a module's types have, their extensions in the module included.
    private struct Size {
        var properties = 0
        var methods = 0

        var isLarge: Bool { properties > mostProperties || methods > mostMethods }
    }

    @Test func largeTypesSayWhy() {
        for (target, files) in Dictionary(grouping: SourceTree.swift, by: \.target) {
            var sizes: [String: Size] = [:]
            for file in files { measure(file, into: &sizes) }
            for (type, size) in sizes where size.isLarge && !hasReason(type, in: files) {
                Issue.record(
                    """
                    \(target): \(type) has \(size.properties) stored properties and \(size.methods) methods: divide it, \
                    or write "Large: …" into its comment
                    """)
            }
        }
    }

    @Test func propertiesAndMethodsAreCounted() {
        let lines = [
            "struct A {", "    let (a, b) = (1, 2)", "    var c = [{ 1 }]", "    static let d = 1",
            "    var e: Int { 1 }",
            "    func f() {}", "    struct B { var g: Int }", "}", "extension A { subscript(i: Int) -> Int { i } }",
            "struct C {", "    var h: Int { didSet { } }", "    var i = 0 { willSet { } }",
            "    var j: Int { get { 1 } }", "}",
        ]
        var sizes: [String: Size] = [:]
        measure(SourceTree.File(path: "Sources/A/A.swift", lines: lines), into: &sizes)
        #expect(sizes["A"]?.properties == 3)
        #expect(sizes["A"]?.methods == 2)
        #expect(sizes["A.B"]?.properties == 1)
        #expect(sizes["C"]?.properties == 2)
    }

    private func measure(_ file: SourceTree.File, into sizes: inout [String: Size]) {
        let text = SwiftText(file.lines.joined(separator: "\n"))
        measure(text.declarations(in: 0..<text.shape.count), of: text, in: "", into: &sizes)
    }

    private func measure(
        _ declarations: [Declaration], of text: SwiftText, in outer: String, into sizes: inout [String: Size]
    ) {
        for declaration in declarations {
            switch declaration.keyword {
            case "func", "subscript": sizes[outer, default: Size()].methods += outer.isEmpty ? 0 : 1
            case "var", "let":
                let accessors = declaration.body.map(text.line) ?? "didSet"
                let isStored =
                    ["didSet", "willSet"].contains(where: accessors.hasPrefix)
                    && !declaration.modifiers.contains("static")
                if isStored, !outer.isEmpty { sizes[outer, default: Size()].properties += names(of: declaration) }
            default:
                guard let name = declaration.typeName, let body = declaration.body else { continue }
                let full = outer.isEmpty ? name : "\(outer).\(name)"
                measure(text.declarations(in: body), of: text, in: full, into: &sizes)
            }
        }
    }

    /// How many properties a declaration makes: `let (a, b)` makes two.
    private func names(of declaration: Declaration) -> Int {
        let pattern = declaration.signature.dropFirst(4)
        return pattern.hasPrefix("(") ? pattern.prefix { $0 != ")" }.split(separator: ",").count : 1
    }

    /// Whether the comment of the type's declaration gives a reason.
    private func hasReason(_ type: String, in files: [SourceTree.File]) -> Bool {
        files.contains { file in
            file.lines.indices.contains { index in
                guard Self.fullName(at: index, in: file.lines) == type else { return false }
                let above = file.lines[..<index].reversed().map(\.trimmed)
                return above.prefix { $0.hasPrefix("//") || $0.hasPrefix("@") }.contains { $0.contains("Large: ") }
            }
        }
    }

    @Test func aReasonIsOfTheTypeThatIsDeclaredBelowIt() {
        let lines = [
            "extension A {", "    struct State {", "    }", "}", "enum State {}", "// class State", "let x = 1",
        ]
        #expect(
            lines.indices.map { Self.fullName(at: $0, in: lines) } == [nil, "A.State", nil, nil, "State", nil, nil])
    }

    /// The name of the type that a line declares, with those of the types around it, which are less indented.
    private static func fullName(at index: Int, in lines: [String]) -> String? {
        let declaration = #/\b(class|struct|enum|actor|protocol|extension) ([\w.]+)/#
        func indent(_ line: String) -> Int { line.prefix { $0 == " " }.count }
        guard let match = lines[index].code.firstMatch(of: declaration), match.1 != "extension" else { return nil }
        var (name, depth) = (String(match.2), indent(lines[index]))
        for line in lines[..<index].reversed() where depth > 0 && indent(line) < depth {
            guard let outer = line.code.firstMatch(of: declaration) else { continue }
            (name, depth) = ("\(outer.2).\(name)", indent(line))
        }
        return name
    }
}
