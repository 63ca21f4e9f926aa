/// How a person is known to a server: libcurl answers what the server asks for with it. It never goes to another server, for no
/// redirect is followed.
package enum HTTPLogin: Hashable, Sendable {
    /// Name and password as they are, which only TLS hides.
    case basic(user: String, password: String)
    /// A proof that the password is known (RFC 7616): a second request for each.
    case digest(user: String, password: String)
    /// A token (RFC 6750).
    case bearer(String)
}

/// A request. It is sent as it is: the caller has signed and encoded it.
package struct HTTPRequest: Sendable {
    /// What is sent after the headers.
    package enum Body: Sendable {
        case none
        case bytes([UInt8])
        /// A range of an open file, which is read at offsets.
        case file(Int32, Range<Int64>)
    }

    /// Takes a successful answer's bytes as they come, on the client's thread, from the first on: it may wait for the local disk
    /// and for nothing else.
    /// - Returns: False when it wants no more of them.
    package typealias Sink = @Sendable (UnsafeRawBufferPointer, HTTPHead) -> Bool

    package var method: String
    package var url: String
    package var headers: [(name: String, value: String)]
    package var body = Body.none
    /// Bytes of an answer that are kept, where no sink takes them; with more the request fails.
    package var longestAnswer = 64 << 10
    package var sink: Sink?
    /// Called with how much of the body has gone out, on the client's thread.
    package var sent: (@Sendable (Int64) -> Void)?
    /// Seconds without a byte in either direction after which it fails.
    package var longestSilence = 45
    /// By what the person is known to the server.
    package var login: HTTPLogin?
    /// Whether it may go out a second time when a connection that was kept breaks before any answer: the server may have done it.
    package var isSentOnce = false

    /// A request without a body.
    package init(_ method: String, _ url: String, headers: [(name: String, value: String)] = []) {
        self.method = method
        self.url = url
        self.headers = headers
    }

    /// Bytes of the body.
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
    /// By names in lower case; of one that comes twice the last, and of `www-authenticate` all.
    package var headers: [String: String] = [:]

    /// The value of a header, whose name is given in lower case.
    package subscript(name: String) -> String? { headers[name] }

    /// Whether the status means success.
    package var isSuccess: Bool { (200..<300).contains(status) }

    /// The value of `Content-Length`, if it is a valid size.
    package var contentLength: Int64? { headers["content-length"].flatMap(Self.size) }

    /// A whole number of 0 and more, of digits only.
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
    /// What no sink took.
    package var body: [UInt8]
}

/// Why there is no answer, in one line without secrets.
package enum HTTPFailure: Error, Hashable, Sendable {
    /// No connection, or none any more.
    case unreachable(String)
    /// There was one, and nothing came for as long as was waited.
    case silent(String)
    /// The peer could not prove to be the server.
    case untrusted(String)
    /// The answer is longer than it may be, or no HTTP.
    case malformed(String)
    /// The file to send has fewer bytes than declared.
    case contentsEndEarly
    /// The sink wants no more.
    case unwanted
    case cancelled
}
