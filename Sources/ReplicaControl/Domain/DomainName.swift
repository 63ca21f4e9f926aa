import ChildProcess

/// The name of a domain. It is used as the name of a directory below the state root, as the source in `/proc/mounts`, and
/// before the colon in `NAME:PATH`, so names that would be ambiguous there are rejected.
package struct DomainName: Hashable, Sendable, CustomStringConvertible {
    /// The name as text: 1 to 200 bytes of UTF-8.
    package let text: String

    /// Longest name in bytes; leaves room below NAME_MAX for a suffix.
    package static let longest = 200

    /// Checks a name, or throws what is wrong with it.
    package init(_ text: String) throws(DomainNameError) {
        if text.isEmpty { throw .empty }
        if text.utf8.count > Self.longest { throw .tooLong }
        if text == "." || text == ".." || text.hasPrefix(".") || text.hasPrefix("-") { throw .badStart }
        let forbidden = text.unicodeScalars.first { $0 == "/" || $0 == ":" || !SanitizedText.isHarmless($0) }
        if let forbidden { throw .forbidden(forbidden) }
        if text.first == " " || text.last == " " { throw .space }
        self.text = text
    }

    package var description: String { text }

    /// Compares bytes: as names of directories, equivalent Unicode spellings differ.
    package static func == (one: DomainName, other: DomainName) -> Bool {
        one.text.utf8.elementsEqual(other.text.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}

/// What is wrong with a domain's name.
package enum DomainNameError: Error, Equatable, CustomStringConvertible {
    case empty
    case tooLong
    case badStart
    case space
    case forbidden(Unicode.Scalar)

    package var description: String {
        switch self {
        case .empty: "a domain's name can't be empty"
        case .tooLong: "a domain's name has at most \(DomainName.longest) bytes"
        case .badStart: "a domain's name can't start with '.' or '-'"
        case .space: "a domain's name can't start or end with a space"
        case .forbidden(let scalar):
            SanitizedText.isHarmless(scalar)
                ? "a domain's name can't contain '\(scalar)'"
                : "a domain's name can't contain control or format characters"
        }
    }
}
