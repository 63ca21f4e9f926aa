/// A path below a domain's root, in bytes, without a slash at its start; the root itself is empty.
///
/// In JSON it is a string; a path that isn't UTF-8 is an array of its byte values.
package struct ControlPath: Hashable, Sendable, CustomStringConvertible {
    /// The path's bytes.
    package let bytes: [UInt8]

    /// The domain's root.
    package static let root = ControlPath(bytes: [])

    /// Drops slashes at both ends and double ones, and `.` parts; keeps `..`, which the daemon refuses.
    package init(bytes: some Sequence<UInt8>) {
        let parts = Array(bytes).split(separator: UInt8(ascii: "/")).filter { !$0.elementsEqual([UInt8(ascii: ".")]) }
        self.bytes = Array(parts.joined(separator: [UInt8(ascii: "/")]))
    }

    /// The names from the root down.
    package var names: [[UInt8]] { bytes.split(separator: UInt8(ascii: "/")).map(Array.init) }

    /// The path for messages: invalid UTF-8 becomes replacement characters, the root `.`.
    package var description: String { bytes.isEmpty ? "." : String(decoding: bytes, as: UTF8.self) }
}

extension ControlPath: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        do {
            self.init(bytes: try container.decode(String.self).utf8)
        } catch DecodingError.typeMismatch {
            self.init(bytes: try container.decode([UInt8].self))
        }
        if bytes.contains(0) {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "a path can't contain NUL")
        }
    }

    package func encode(to encoder: any Encoder) throws { try encodePath(bytes, to: encoder) }
}

/// Writes a path as a string, or as its byte values if it isn't UTF-8.
func encodePath(_ bytes: [UInt8], to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if let text = String(validating: bytes, as: UTF8.self) {
        try container.encode(text)
    } else {
        try container.encode(bytes)
    }
}
