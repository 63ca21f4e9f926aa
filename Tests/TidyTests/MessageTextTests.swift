import Foundation
import Testing

/// Each message of a failure has a test of its exact text, so that none is wrong unnoticed: all that stands between its values is
/// in one line of a test.
@Suite struct MessageTextTests {
    /// What begins a message: a failure of the socket or of a command line, or a line on standard error.
    private static let beginnings = ["ControlFailure(", "MountUsageError(", "ValidationError(", "Output.complain("]

    /// Only a machine without descriptors, threads or /proc says these, and no test makes it one.
    private static let ofFailingMachines = [
        "no pipe", "no socket: ", "no thread could be created to query it", ": no thread could be created to serve it",
        ": the mounts can't be read: ",
    ]

    /// The text of all tests; a literal that is continued in another line is in one.
    private static let tests = Data(
        SourceTree.swift
            .filter { !$0.isInSources && $0.target != "TidyTests" }
            .flatMap { joined(Array($0.lines.joined(separator: "\n").utf8)) + [newline] })

    private static let newline = UInt8(ascii: "\n")

    /// Without `" + "`, whatever white space there is.
    private static func joined(_ text: [UInt8]) -> [UInt8] {
        var (result, index) = ([UInt8](), 0)
        while index < text.count {
            if text[index] == UInt8(ascii: "\""), let next = continuation(text, after: index) {
                index = next
            } else {
                result.append(text[index])
            }
            index += 1
        }
        return result
    }

    /// The quotation mark that continues the literal that ends at this one.
    private static func continuation(_ text: [UInt8], after end: Int) -> Int? {
        var (index, plusses) = (end + 1, 0)
        while index < text.count {
            switch text[index] {
            case UInt8(ascii: " "), newline: break
            case UInt8(ascii: "+"): plusses += 1
            case UInt8(ascii: "\""): return plusses == 1 ? index : nil
            default: return nil
            }
            index += 1
        }
        return nil
    }

    @Test func eachMessageIsInATest() {
        var (found, unused) = (0, Set(Self.ofFailingMachines))
        for file in SourceTree.swift where file.isInSources {
            for message in Self.messages(in: file) {
                let words = message.filter { !$0.trimmed.isEmpty }
                // Otherwise it says what another error says.
                guard words.joined().count(where: \.isLetter) > 4 else { continue }
                found += 1
                if Self.isInATest(words.map { Data($0.utf8) }) { continue }
                let text = message.joined()
                let isExcused = unused.contains(text) || Self.ofFailingMachines.contains(text)
                unused.remove(text)
                #expect(isExcused, "\(file.path): no test has: \(message.joined(separator: "…"))")
            }
        }
        #expect(found > 130)
        #expect(unused.isEmpty, "not a message, or one with a test")
    }

    /// Whether a line of a test has all parts, one after the other.
    private static func isInATest(_ parts: [Data]) -> Bool {
        guard let rarest = parts.max(by: { $0.count < $1.count }) else { return false }
        var rest = tests[...]
        while let found = rest.range(of: rarest) {
            let begin = tests[..<found.lowerBound].lastIndex(of: newline) ?? tests.startIndex
            let end = tests[found.upperBound...].firstIndex(of: newline) ?? tests.endIndex
            if has(tests[begin..<end], parts) { return true }
            rest = tests[end...]
        }
        return false
    }

    private static func has(_ line: Data, _ parts: [Data]) -> Bool {
        var rest = line
        for part in parts {
            guard let found = rest.range(of: part) else { return false }
            rest = rest[found.upperBound...]
        }
        return true
    }

    /// The literals in the failures of a file, each as the parts between its values.
    private static func messages(in file: SourceTree.File) -> [[String]] {
        let text = file.lines.joined(separator: "\n")
        return beginnings.flatMap { beginning in
            text.ranges(of: beginning).flatMap { literals(in: text[$0.upperBound...]) }
        }
    }

    /// The literals in a call's arguments, but for those in calls within.
    private static func literals(in arguments: Substring) -> [[String]] {
        var (found, depth, rest, continues) = ([[String]](), 1, arguments, false)
        while depth > 0, let character = rest.popFirst() {
            switch character {
            case "(", "{", "[": depth += 1
            case ")", "}", "]": depth -= 1
            case "\"":
                let parts = literal(&rest)
                guard depth == 1 else { continue }
                if continues, let last = found.popLast() {
                    found.append(last.dropLast() + [(last.last ?? "") + parts[0]] + parts.dropFirst())
                } else {
                    found.append(parts)
                }
                continues = rest.prefixMatch(of: #/\s*\+\s*"/#) != nil
            default: break
            }
        }
        return found
    }

    /// The rest of a literal, whose first quotation mark was read.
    private static func literal(_ rest: inout Substring) -> [String] {
        var parts = [""]
        while let character = rest.popFirst(), character != "\"" {
            guard character == "\\", let next = rest.popFirst() else {
                parts[parts.count - 1].append(character)
                continue
            }
            if next == "(" {
                skipValue(&rest)
                parts.append("")
            } else {
                parts[parts.count - 1].append(next)
            }
        }
        return parts
    }

    private static func skipValue(_ rest: inout Substring) {
        var depth = 1
        while depth > 0, let character = rest.popFirst() {
            switch character {
            case "(": depth += 1
            case ")": depth -= 1
            case "\"": _ = literal(&rest)
            default: break
            }
        }
    }
}
