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

/// The error of a server that did not carry out a request.
struct S3Complaint: Hashable, Sendable {
    var status: Int
    /// S3's error code; empty if the answer had none.
    var code = ""
    var message = ""
    /// The bucket's region, if the answer has it.
    var region: String?
    /// The number of seconds to wait, if the answer has it.
    var pause: Double?
    /// The server's clock.
    var serverTime: Int64?

    init(status: Int) { self.status = status }

    init(_ answer: HTTPAnswer) {
        status = answer.head.status
        region = answer.head["x-amz-bucket-region"].flatMap(Self.region)
        pause = answer.head.retryAfterSeconds
        serverTime = answer.head["date"].flatMap(Moment.header)
        guard let root = XMLReader.read(answer.body), root.name == "Error" else { return }
        code = String((root["Code"]?.text ?? "").prefix(100))
        message = String((root["Message"]?.text ?? "").prefix(300))
        region = region ?? root["Region"].flatMap { Self.region($0.text) }
    }

    /// It becomes part of a host name and of a header, where other characters could redirect the request or add a
    /// header.
    private static func region(_ text: String) -> String? {
        S3Address.isPlain(text) && text.utf8.count <= 40 ? text : nil
    }

    /// The server's answer, for users.
    var words: String {
        code.isEmpty ? "the server answers \(status)" : message.isEmpty ? code : "\(code): \(message)"
    }
}

/// Why a request failed.
enum S3Error: Error {
    case complaint(S3Complaint)
    case failure(ServerFailure)
    /// No bytes came within the timeout.
    case silence(String)
    case contentsEndEarly
    case unwanted
}
