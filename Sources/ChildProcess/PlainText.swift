/// Text of a program or a server as a log or a terminal may have it.
package enum PlainText {
    /// One line without control characters; what is not UTF-8 shows as U+FFFD.
    package static func of(_ bytes: [UInt8]) -> String {
        let scalars = String(decoding: bytes, as: UTF8.self).unicodeScalars.map { scalar in
            isHarmless(scalar) ? scalar : " "
        }
        return String(String.UnicodeScalarView(scalars))
    }

    /// As above, of at most `longest` bytes.
    package static func of(_ text: String, longest: Int = 500) -> String {
        let bytes = Array(text.utf8)
        return bytes.count <= longest ? of(bytes) : of(Array(bytes.prefix(longest))) + "…"
    }

    /// No control character and none that turns the direction of writing.
    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .format: false
        default: true
        }
    }
}
