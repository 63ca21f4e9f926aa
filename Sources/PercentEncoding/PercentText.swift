/// Percent-encoding of names in URLs (RFC 3986, with upper-case digits, as the signatures of S3 need them).
package enum PercentText {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Whether it is an ASCII letter or digit.
    package static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    /// Bytes as text without reserved characters.
    /// - Parameter reserved: Reserved characters that are kept, such as the slashes of a path.
    package static func encoded(_ bytes: some Sequence<UInt8>, keeping reserved: String = "") -> String {
        var text: [UInt8] = []
        for byte in bytes {
            if isAlphanumeric(byte) || "-._~".utf8.contains(byte) || reserved.utf8.contains(byte) {
                text.append(byte)
            } else {
                text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The decoded bytes of a text.
    /// - Parameter plusIsSpace: As in the listings of S3.
    /// - Returns: Nil if it is not validly encoded.
    package static func decoded(_ text: some StringProtocol, plusIsSpace: Bool = false) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "+"), plusIsSpace {
                bytes.append(UInt8(ascii: " "))
            } else if byte == UInt8(ascii: "%") {
                guard rest.count >= 2, let high = digit(rest.removeFirst()), let low = digit(rest.removeFirst()) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
