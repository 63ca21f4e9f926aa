/// The user's credentials, with which libcurl answers the server's challenge. They never go to another server, because
/// redirects are not followed.
package enum HTTPLogin: Hashable, Sendable {
    /// Name and password in plain text, which only TLS protects.
    case basic(user: String, password: String)
    /// A proof of the password (RFC 7616), which takes a second request.
    case digest(user: String, password: String)
    /// A token (RFC 6750).
    case bearer(String)
}

/// A request. It is sent unchanged: the caller has signed and encoded it.
package struct HTTPRequest: Sendable {
    /// The body.
    package enum Body: Sendable {
        case none
        case bytes([UInt8])
        /// A range of an open file, which is read at offsets.
        case file(Int32, Range<Int64>)
    }

    /// Receives the bytes of a successful answer in order, on the client's thread: it may block on the local disk, but
    /// on nothing else.
    /// - Returns: False to abort.
    package typealias Sink = @Sendable (UnsafeRawBufferPointer, HTTPHead) -> Bool

    package var method: String
    package var url: String
    package var headers: [(name: String, value: String)]
    package var body = Body.none
    /// The maximum size of an answer without a sink, in bytes; a larger answer fails the request.
    package var longestAnswer = 64 << 10
    package var sink: Sink?
    /// Called with the number of bytes of the body that were sent, on the client's thread.
    package var sent: (@Sendable (Int64) -> Void)?
    /// Seconds without a byte in either direction after which it fails.
    package var longestSilence = 45
    /// The user's credentials.
    package var login: HTTPLogin?
    /// Whether it may be sent again if a reused connection breaks before any answer, although the server may have
    /// carried it out.
    package var isSentOnce = false
    /// Whether no proxy of the environment is used.
    package var isDirect = false

    /// A request without a body.
    package init(_ method: String, _ url: String, headers: [(name: String, value: String)] = []) {
        self.method = method
        self.url = url
        self.headers = headers
    }

    /// The size of the body, in bytes.
    package var size: Int64 {
        switch body {
        case .none: 0
        case .bytes(let bytes): Int64(bytes.count)
        case .file(_, let range): range.upperBound - range.lowerBound
        }
    }
}

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

/// Why there is no answer, in one line without secrets.
package enum HTTPFailure: Error, Hashable, Sendable {
    /// No connection, or it broke.
    case unreachable(String)
    /// Connected, but no bytes came within the timeout.
    case silent(String)
    /// The server's identity could not be verified.
    case untrusted(String)
    /// The answer is too long, or is not HTTP.
    case malformed(String)
    /// The file to send has fewer bytes than declared.
    case contentsEndEarly
    /// The sink aborted.
    case unwanted
    case cancelled
}
