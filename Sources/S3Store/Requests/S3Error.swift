import HTTPClient
import HTTPStorage

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
        serverTime = answer.head["date"].flatMap(ServerTime.header)
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

    /// The server's answer has another form than S3's.
    static let strange = Self.failure(.unreachable("the server's answer is not a valid S3 answer"))
}
