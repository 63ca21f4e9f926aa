import Foundation

/// What a module makes public, one line for each declaration.
///
/// Read from the source by its brackets and keywords, as swift-format has laid it out: no compiler is needed, and every toolchain
/// finds the same.
struct PublicAPI {
    /// `Scope: declaration`, sorted.
    let lines: [String]

    init(files: [String]) {
        let texts = files.map { SwiftText($0) }
        var types = TypeTable()
        for text in texts { types.note(text, in: nil, 0..<text.shape.count) }
        var found: [String] = []
        for text in texts {
            for declaration in text.declarations(in: 0..<text.shape.count) {
                Self.list(declaration, of: text, in: nil, types, &found)
            }
        }
        lines = found.sorted()
    }

    /// A type's body.
    private struct Scope {
        /// From the outermost type on.
        let name: String
        /// What an extension is bound to: `where Answer == Entry`.
        var condition = ""
        /// Everything in it is public where the type is: a protocol, and the cases of an enum.
        var isProtocol = false
    }

    private static func list(
        _ declaration: Declaration, of text: SwiftText, in scope: Scope?, _ types: TypeTable, _ found: inout [String]
    ) {
        let isExtension = declaration.keyword == "extension"
        let isSeen = declaration.isPublic || declaration.keyword == "case" || scope?.isProtocol == true
        guard isExtension || isSeen, declaration.keyword != "import" else { return }
        let name = declaration.typeName.map { name in scope.map { "\($0.name).\(name)" } ?? name }
        if let name, !types.isPublic(name) { return }
        if !isExtension || declaration.conformances.contains(where: types.isPublic) {
            let place = scope.map { "\($0.name)\($0.condition): " } ?? ""
            found.append(place + describe(declaration, of: text))
        }
        guard let name, let body = declaration.body else { return }
        var inner = Scope(name: name, isProtocol: declaration.keyword == "protocol")
        if isExtension, let range = declaration.signature.range(of: " where ") {
            inner.condition = String(declaration.signature[range.lowerBound...])
        }
        for member in text.declarations(in: body) { list(member, of: text, in: inner, types, &found) }
    }

    private static func describe(_ declaration: Declaration, of text: SwiftText) -> String {
        let hidden: Set = ["public", "open"]
        let words = declaration.modifiers.filter { !hidden.contains($0) && !$0.hasSuffix("(set)") }
        var line = (words + [declaration.signature]).joined(separator: " ").trimmed
        guard declaration.keyword == "var" || declaration.keyword == "subscript" else { return line }
        if declaration.modifiers.contains(where: { $0.hasSuffix("(set)") }) {
            line += " { get }"
        } else if let body = declaration.body {
            let accessors = text.line(body)
            let isStored = accessors.contains("didSet {") || accessors.contains("willSet {")
            let canSet = accessors.contains(#/\bset\b( \{|\(|$)/#) || accessors.hasSuffix("get set")
            line += isStored ? "" : canSet ? " { get set }" : " { get }"
        }
        return line
    }
}

/// Which types of a module are public. Types of other modules are.
private struct TypeTable {
    private var seen: [String: Bool] = [:]

    func isPublic(_ name: String) -> Bool {
        let parts = name.split(separator: ".")
        return parts.indices.allSatisfy { seen[parts[...$0].joined(separator: ".")] ?? true }
    }

    mutating func note(_ text: SwiftText, in scope: String?, _ range: Range<Int>) {
        for declaration in text.declarations(in: range) {
            guard let type = declaration.typeName, let body = declaration.body else { continue }
            let name = scope.map { "\($0).\(type)" } ?? type
            if declaration.keyword != "extension" { seen[name] = declaration.isPublic }
            note(text, in: name, body)
        }
    }
}
