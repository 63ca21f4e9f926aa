import ChildProcess
import HTTPClient
import HTTPStorage
import PathStore

/// Why a request failed.
enum WebDAVError: Error {
    case complaint(Complaint)
    case failure(ServerFailure)
    /// Connected, but no bytes came within the timeout.
    case silence(String)
    case contentsEndEarly
    case unwanted
    /// Not a valid WebDAV answer: it proves nothing.
    case strange

    /// The error of a server that did not carry out a request.
    struct Complaint: Hashable, Sendable {
        var status: Int
        /// The server's message for users, if it is in a known format.
        var message = ""
        /// The number of seconds to wait, if the answer has it.
        var pause: Double?
        /// The location of the resource, if the answer has it.
        var location: String?
        var challenge: String?

        init(status: Int) { self.status = status }

        init(_ answer: HTTPAnswer) {
            status = answer.head.status
            pause = answer.head.retryAfterSeconds
            location = answer.head["location"]
            challenge = answer.head["www-authenticate"]
            // The format of sabre, Nextcloud and ownCloud.
            guard let root = XMLReader.read(answer.body), root.name == "error" else { return }
            message = String((root["message"]?.text ?? "").prefix(300))
        }

        /// The server's answer, for users.
        var words: String { message.isEmpty ? "the server answers \(status)" : "\(message) (\(status))" }

        /// Whether it is transient.
        var isBusy: Bool { status == 429 || status == 503 }
    }

    /// The error in a multi-status answer that reports at least one failure: lighttpd answers a folder's move to an
    /// existing target so.
    static func partial(_ answer: HTTPAnswer) -> WebDAVError {
        let responses = XMLReader.read(answer.body).flatMap { $0.name == "multistatus" ? $0.children : nil } ?? []
        let statuses = responses.compactMap { response -> Int? in
            let words = (response["status"]?.text ?? "").split(separator: " ")
            return words.count > 1 ? Int(words[1]) : nil
        }
        // A resource that failed because of another one contains no reason of its own (RFC 4918 §11.4).
        let failures = statuses.filter { (400..<600).contains($0) }
        guard let status = failures.first(where: { $0 != 424 }) ?? failures.first else { return .strange }
        return .complaint(Complaint(status: status))
    }

    var status: Int? {
        guard case .complaint(let complaint) = self else { return nil }
        return complaint.status
    }

    /// Whether the server tested a condition and found that it does not hold.
    var isPreconditionFailed: Bool { status == 412 }

    /// Why the store can't be used.
    func failure(_ address: WebDAVAddress) -> ServerFailure {
        switch self {
        case .failure(let failure): return failure
        case .silence(let text): return .unreachable(text)
        case .contentsEndEarly, .unwanted: return .cancelled
        case .strange: return .unreachable("the server's answer is not a valid WebDAV answer")
        case .complaint(let complaint):
            let text = SanitizedText.of(complaint.words)
            if complaint.isBusy { return .busy(complaint.pause ?? 1) }
            switch complaint.status {
            case 301, 302, 303, 307, 308:
                return .refused(
                    "the server redirects the folder to \(SanitizedText.of(complaint.location ?? "another place", longest: 200))"
                )
            case 401: return .notAuthenticated("the server rejects this login")
            case 403: return .notAuthenticated("this login may not read the folder, or it is not a folder (\(text))")
            case 404, 410: return .refused("there is no folder \(SanitizedText.of(address.description)) there")
            case 405, 501: return .refused("the server has no WebDAV there (\(text))")
            default: return .unreachable(text)
            }
        }
    }

    /// The storage's error for a call about a path.
    func meaning(_ address: WebDAVAddress, _ path: StoragePath, isChange: Bool) -> PathStorageError {
        switch self {
        case .contentsEndEarly: return .refused("the content is shorter than declared")
        case .unwanted: return .cancelled
        case .failure, .silence, .strange: return failure(address).storageError
        case .complaint(let complaint):
            let text = SanitizedText.of("\(path): \(complaint.words)")
            switch complaint.status {
            case 401: return .notAuthenticated("the server no longer accepts this login")
            case 403: return isChange ? .refused(text) : .unavailable(text)
            case 423: return .unavailable("\(path): it is locked by another client")
            case 507: return .insufficientQuota(text)
            case 400, 413, 414, 415, 431: return isChange ? .refused(text) : .unreachable(text)
            case 405, 501: return isChange ? .refused(text) : .unreachable(text)
            case 429, 503: return .busy(seconds: complaint.pause ?? 1)
            default: return .unreachable(text)
            }
        }
    }
}

/// The outcome of a part of a call.
enum CallError: Error {
    case storage(PathStorageError)
    case request(WebDAVError)

    /// Whether the server may not have noticed the end of the request yet.
    var isUnanswered: Bool { request.map { $0.status == nil } ?? false }

    var request: WebDAVError? {
        guard case .request(let error) = self else { return nil }
        return error
    }
}
