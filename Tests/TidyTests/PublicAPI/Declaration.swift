import Foundation

/// A declaration of a type's body or of a file, as it is written.
struct Declaration {
    /// What stands before the declaration's keyword, without attributes: `public`, `static`, `private(set)`, ...
    let modifiers: [String]
    /// `struct`, `func`, `init`, ...
    let keyword: String
    /// From the keyword to the body, in one line.
    let signature: String
    /// What is between the braces.
    let body: Range<Int>?

    static let keywords: Set = [
        "struct", "class", "enum", "protocol", "actor", "extension", "func", "var", "let", "init", "subscript", "case",
        "typealias", "associatedtype", "import", "deinit",
    ]

    init?(line: String, body: Range<Int>?) {
        var rest = line[...]
        var modifiers: [String] = []
        while true {
            let word = rest.prefix { $0.isLetter }
            if rest.hasPrefix("@") {
                rest = rest.dropFirst().drop { $0.isLetter || $0 == "_" }
                if rest.hasPrefix("(") { rest = rest.drop { $0 != ")" }.dropFirst() }
            } else if Self.keywords.contains(String(word)) {
                break
            } else {
                let modifier = rest.prefix { $0 != " " }
                if modifier.isEmpty { return nil }
                modifiers.append(String(modifier))
                rest = rest.dropFirst(modifier.count)
            }
            rest = rest.drop { $0 == " " }
        }
        self.modifiers = modifiers
        keyword = String(rest.prefix { $0.isLetter })
        signature = String(rest)
        self.body = body
    }

    var isPublic: Bool { modifiers.contains("public") || modifiers.contains("open") }

    /// The type that the body belongs to, without what it is generic over; nil for all but types and extensions.
    var typeName: String? {
        guard ["struct", "class", "enum", "protocol", "actor", "extension"].contains(keyword) else { return nil }
        let name = signature.split(separator: " ")[1].prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
        return String(name)
    }

    /// What an extension has its type conform to.
    var conformances: [String] {
        let head = signature.components(separatedBy: " where ")[0].split(separator: ":", maxSplits: 1)
        return head.count < 2 ? [] : head[1].split(separator: ",").map { String($0).trimmed }
    }
}

extension SwiftText {
    /// The declarations in a range, not those inside of them.
    func declarations(in range: Range<Int>) -> [Declaration] {
        var found: [Declaration] = []
        var place = firstWord(from: range.lowerBound, to: range.upperBound)
        while place < range.upperBound {
            let (signature, body, end) = declaration(at: place, to: range.upperBound)
            if let declaration = Declaration(line: line(signature), body: body) { found.append(declaration) }
            place = firstWord(from: end, to: range.upperBound)
        }
        return found
    }

    private func declaration(at start: Int, to limit: Int) -> (signature: Range<Int>, body: Range<Int>?, end: Int) {
        var place = start
        var value: Int?
        while place < limit {
            switch shape[place] {
            case UInt8(ascii: "("), UInt8(ascii: "["):
                place = end(ofBracketAt: place)
                continue
            case UInt8(ascii: "{"):
                let behind = end(ofBracketAt: place)
                if value == nil { return (start..<place, place + 1..<behind - 1, behind) }
                place = behind
                continue
            case UInt8(ascii: "=") where shape[place - 1] == UInt8(ascii: " ") && shape[place + 1] <= UInt8(ascii: " "):
                value = value ?? place
            case UInt8(ascii: "\n") where isEnd(start: start, at: place, to: limit):
                return (start..<signatureEnd(start, place, value), nil, place)
            default: break
            }
            place += 1
        }
        return (start..<signatureEnd(start, limit, value), nil, limit)
    }

    /// Where the type is written, the value does not belong to the signature.
    private func signatureEnd(_ start: Int, _ end: Int, _ value: Int?) -> Int {
        guard let value else { return end }
        let isTyped = line(start..<value).contains(": ")
        return isTyped || shape[value..<end].contains(UInt8(ascii: "{")) ? value : end
    }

    /// Whether a declaration ends with the line: neither it nor the next line says that it goes on.
    private func isEnd(start: Int, at newline: Int, to limit: Int) -> Bool {
        let written = line(start..<newline)
        if written.hasPrefix("#") { return true }
        if [",", "=", ":", "&", "->"].contains(where: written.hasSuffix) { return false }
        if written.hasPrefix("@"), Declaration(line: written, body: nil) == nil { return false }
        let next = firstWord(from: newline, to: limit)
        let follows = shape[next..<limit].prefix(6)
        return !["->", "where ", "{", ".", "=", "&", "?"].contains { follows.starts(with: $0.utf8) }
    }
}
