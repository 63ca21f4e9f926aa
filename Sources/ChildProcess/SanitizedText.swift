/// Makes the text of a program or a server safe for a log or a terminal.
package enum SanitizedText {
    /// One line without control characters; invalid UTF-8 becomes U+FFFD.
    package static func of(_ bytes: [UInt8]) -> String {
        let scalars = String(decoding: bytes, as: UTF8.self).unicodeScalars.map { scalar in
            isHarmless(scalar) ? scalar : " "
        }
        return String(String.UnicodeScalarView(scalars))
    }

    /// The same, with at most `longest` bytes.
    package static func of(_ text: String, longest: Int = 500) -> String {
        let bytes = Array(text.utf8)
        return bytes.count <= longest ? of(bytes) : of(Array(bytes.prefix(longest))) + "…"
    }

    /// Not a control character, no line break, and no format character, such as those that change the writing direction. Of
    /// format characters only the joiners are harmless: Persian, Indic scripts and emoji need them.
    package static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: false
        case .format: scalar == "\u{200C}" || scalar == "\u{200D}"
        default: true
        }
    }
}
