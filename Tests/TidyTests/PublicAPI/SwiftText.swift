/// Swift source as far as its declarations are read here: where its comments and texts are, and which brackets belong together.
struct SwiftText {
    /// The source, with spaces in the place of comments.
    private let text: [UInt8]
    /// The same with spaces in the place of string literals too, so that every bracket in it counts.
    let shape: [UInt8]

    init(_ source: String) {
        var reader = LiteralReader(Array(source.utf8))
        reader.read()
        text = reader.text
        shape = reader.shape
    }

    /// What stands in a range, in one line.
    func line(_ range: Range<Int>) -> String {
        let words = String(decoding: text[range], as: UTF8.self).split(whereSeparator: \.isWhitespace)
        return words.joined(separator: " ").replacing("( ", with: "(").replacing(" )", with: ")")
    }

    /// The index behind the bracket that closes the one at `start`.
    func end(ofBracketAt start: Int) -> Int {
        var depth = 0
        for index in start..<shape.count {
            switch shape[index] {
            case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            default: continue
            }
            if depth == 0 { return index + 1 }
        }
        return shape.count
    }

    /// The first index from `start` on that is no white space, or `end`.
    func firstWord(from start: Int, to end: Int) -> Int {
        shape[start..<end].firstIndex { $0 > UInt8(ascii: " ") } ?? end
    }
}

/// Finds comments and string literals.
private struct LiteralReader {
    private(set) var text: [UInt8]
    private(set) var shape: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) {
        text = bytes
        shape = bytes
    }

    mutating func read() {
        while index < text.count {
            if starts(with: "//") {
                let end = text[index...].firstIndex(of: UInt8(ascii: "\n")) ?? text.count
                blank(to: end, isComment: true)
            } else if text[index] == UInt8(ascii: "\"") {
                blank(to: endOfLiteral(at: index), isComment: false)
            } else if let end = endOfRawLiteral(at: index) {
                blank(to: end, isComment: false)
            } else {
                index += 1
            }
        }
    }

    private func starts(with word: StaticString) -> Bool { text[index...].starts(with: "\(word)".utf8) }

    private mutating func blank(to end: Int, isComment: Bool) {
        for place in index..<end where text[place] != UInt8(ascii: "\n") {
            shape[place] = isComment ? UInt8(ascii: " ") : UInt8(ascii: "s")
            if isComment { text[place] = UInt8(ascii: " ") }
        }
        index = end
    }

    /// The index behind `#"..."#` or `#/.../#`, in which only the same number of signs ends the literal; nil for anything else.
    private func endOfRawLiteral(at start: Int) -> Int? {
        let signs = text[start...].prefix { $0 == UInt8(ascii: "#") }
        let begin = start + signs.count
        guard !signs.isEmpty, begin < text.count else { return nil }
        let mark = text[begin]
        guard mark == UInt8(ascii: "\"") || mark == UInt8(ascii: "/") else { return nil }
        let isLong = mark == UInt8(ascii: "\"") && text[begin...].starts(with: "\"\"\"".utf8)
        let end = [UInt8](repeating: mark, count: isLong ? 3 : 1) + signs
        var place = begin + end.count - signs.count
        while place + end.count <= text.count {
            if text[place...].starts(with: end) { return place + end.count }
            place += 1
        }
        return text.count
    }

    /// The index behind a string literal; what is interpolated may have literals of its own.
    private func endOfLiteral(at start: Int) -> Int {
        let quote = UInt8(ascii: "\"")
        let isLong = text[start...].starts(with: "\"\"\"".utf8)
        let length = isLong ? 3 : 1
        var place = start + length
        while place < text.count {
            if text[place] == UInt8(ascii: "\\") {
                place += 1
                if place < text.count, text[place] == UInt8(ascii: "(") { place = endOfInterpolation(at: place) - 1 }
            } else if text[place...].prefix(length).count == length,
                text[place...].prefix(length).allSatisfy({ $0 == quote })
            {
                return place + length
            }
            place += 1
        }
        return text.count
    }

    private func endOfInterpolation(at start: Int) -> Int {
        var depth = 0
        var place = start
        while place < text.count {
            switch text[place] {
            case UInt8(ascii: "\""): place = endOfLiteral(at: place) - 1
            case UInt8(ascii: "("): depth += 1
            case UInt8(ascii: ")"): depth -= 1
            default: break
            }
            place += 1
            if depth == 0 { return place }
        }
        return text.count
    }
}
