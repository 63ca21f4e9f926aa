/// The status and the headers of an answer.
package struct HTTPHead: Hashable, Sendable {
    package var status = 0
    /// By lower-case name; the last of several values, except for `www-authenticate`, of which all are kept.
    package var headers: [String: String] = [:]

    /// The value of a header; the name must be in lower case.
    package subscript(name: String) -> String? { headers[name] }

    /// Whether the status means success.
    package var isSuccess: Bool { (200..<300).contains(status) }

    /// The value of `Content-Length`, if it is a valid size.
    package var contentLength: Int64? { headers["content-length"].flatMap(Self.size) }

    /// A non-negative integer, consisting of digits only.
    package static func size(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }
}

/// An answer.
package struct HTTPAnswer: Sendable {
    package var head: HTTPHead
    /// The body, if there was no sink.
    package var body: [UInt8]
}
