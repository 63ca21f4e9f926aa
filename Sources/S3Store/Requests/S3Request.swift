import HTTPClient
import HTTPStorage

/// A request to the bucket, before it is signed.
struct S3Request: Sendable {
    var method: String
    /// Nil for the bucket itself.
    var key: [UInt8]?
    /// Unencoded names and values, which are encoded here.
    var query: [(name: String, value: String)] = []
    var headers: [(name: String, value: String)] = []
    var body = HTTPRequest.Body.none
    var longestAnswer = 64 << 10
    var longestSilence = 45
    var sink: HTTPRequest.Sink?
    var sent: (@Sendable (Int64) -> Void)?
    /// Whether it is repeated after a transient failure, because it changes nothing or is idempotent.
    var mayRepeat = false
    /// Whether its end is progress of the calls (``S3Storage/steps``).
    var isProgress = true

    /// A request about an object, or about the bucket.
    init(_ method: String, _ key: [UInt8]? = nil) {
        self.method = method
        self.key = key
        mayRepeat = method == "GET" || method == "HEAD"
    }

    /// Whether a successful answer comes from S3. Bodies are checked where they are read; the other answers have
    /// headers that the page of a captive portal lacks.
    func isDone(by answer: HTTPAnswer) -> Bool {
        guard key != nil else { return true }
        switch method {
        // The answer to a copy is a document.
        case "PUT" where !headers.contains { $0.name == "x-amz-copy-source" }:
            return EntityTag.value(answer.head["etag"] ?? "") != nil
        // OpenStack Swift's 204 has the type text/html.
        case "DELETE":
            return answer.head.status == 204
                || answer.body.isEmpty && answer.head["content-type"]?.hasPrefix("text/html") != true
        default: return true
        }
    }
}
