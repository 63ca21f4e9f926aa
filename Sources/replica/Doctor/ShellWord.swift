import ChildProcess
import SystemPackage

/// Words of shell commands that are shown to the user.
enum ShellWord {
    /// The bytes as one word of a shell: a path may contain any bytes.
    static func quoted(_ bytes: [UInt8]) -> String {
        let text = String(validating: bytes, as: UTF8.self)
        guard let text, text.unicodeScalars.allSatisfy(SanitizedText.isHarmless) else { return escaped(bytes) }
        let plain = text.unicodeScalars.allSatisfy {
            $0.isASCII
                && ($0.properties.isAlphabetic || ("0"..."9").contains($0) || "._-/+@=,:%".unicodeScalars.contains($0))
        }
        if plain, !text.isEmpty { return text }
        return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }

    static func quoted(_ path: FilePath) -> String {
        quoted(
            path.withPlatformString {
                Array(UnsafeBufferPointer(start: $0, count: path.length)).map(UInt8.init(bitPattern:))
            })
    }

    /// For bytes that a terminal doesn't show: `$'a\x1b'`.
    private static func escaped(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef")
        let hidden = bytes.map { byte in
            (0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "'") && byte != UInt8(ascii: "\\")
                ? String(Unicode.Scalar(byte)) : #"\x\#(digits[Int(byte >> 4)])\#(digits[Int(byte & 15)])"#
        }
        return "$'" + hidden.joined() + "'"
    }
}
