import Foundation

/// Text that may not be UTF-8: a member's text, or the base64 of its bytes in the member whose name ends in `64`.
package struct WireText: Hashable, Sendable {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// - Returns: Nil if neither member exists.
    package init?<Key: CodingKey>(_ container: KeyedDecodingContainer<Key>, _ plain: Key, _ encoded: Key) throws {
        if let text = try container.decodeIfPresent(String.self, forKey: plain) {
            bytes = Array(text.utf8)
        } else if let text = try container.decodeIfPresent(String.self, forKey: encoded) {
            guard let data = Data(base64Encoded: text) else {
                throw DecodingError.dataCorruptedError(forKey: encoded, in: container, debugDescription: "no base64")
            }
            bytes = Array(data)
        } else {
            return nil
        }
    }

    /// Writes it under one of the two names.
    package func encode<Key: CodingKey>(
        into container: inout KeyedEncodingContainer<Key>, _ plain: Key, _ encoded: Key
    ) throws {
        if let text = String(validating: bytes, as: UTF8.self) {
            try container.encode(text, forKey: plain)
        } else {
            try container.encode(Data(bytes).base64EncodedString(), forKey: encoded)
        }
    }

    var isUTF8: Bool { String(validating: bytes, as: UTF8.self) != nil }
}
