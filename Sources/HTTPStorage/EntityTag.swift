/// ETags (RFC 9110 §8.8.3).
package enum EntityTag {
    /// An ETag without its quotes; nil if it can't be a version.
    package static func value(_ text: String) -> String? {
        let tag =
            text.hasPrefix("\"") && text.hasSuffix("\"") && text.utf8.count >= 2
            ? text.dropFirst().dropLast() : text[...]
        guard (1...128).contains(tag.utf8.count),
            tag.utf8.allSatisfy({ (0x21..<0x7F).contains($0) && $0 != UInt8(ascii: "\"") })
        else { return nil }
        return String(tag)
    }
}
