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
