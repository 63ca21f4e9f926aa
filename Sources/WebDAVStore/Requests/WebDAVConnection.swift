import ChildProcess
import Glibc
import HTTPClient
import HTTPStorage
import ReplicaModel
import Threads

/// A request about a path below the store's folder.
struct WebDAVRequest: Sendable {
    var method: String
    /// The names below the store's folder.
    var names: [FileName]
    /// Whether they start at the server's root.
    var isAbsolute = false
    /// Whether it is known to be a folder.
    var isFolder = false
    var headers: [(name: String, value: String)] = []
    var body = HTTPRequest.Body.none
    var longestAnswer = 64 << 10
    var longestSilence = 60
    var sink: HTTPRequest.Sink?
    var sent: (@Sendable (Int64) -> Void)?
    /// Whether it is repeated after a transient failure, because it changes nothing.
    var mayRepeat: Bool

    /// A request without a body about a path outside the store's folder.
    /// - Parameter names: Start at the server's root.
    init(_ method: String, at names: [FileName]) {
        self.init(method, names)
        isAbsolute = true
    }

    /// The store's internal files need not be kept in Nextcloud's trash.
    static let forGood = [(name: "X-NC-Skip-Trashbin", value: "true")]

    /// A request without a body.
    init(_ method: String, _ names: [FileName], headers: [(name: String, value: String)] = []) {
        (self.method, self.names, self.headers) = (method, names, headers)
        mayRepeat = method == "GET" || method == "PROPFIND"
    }

    /// Whether it changes anything.
    var isChange: Bool { method != "GET" && method != "PROPFIND" }

    /// Whether a successful answer comes from a WebDAV server, and is not the page of a captive portal.
    func isDone(by answer: HTTPAnswer) -> Bool {
        switch answer.head.status {
        case 201, 204, 207: true
        // lighttpd answers this to a successful move of a folder.
        case 200: !isChange || answer.body.isEmpty || answer.head["content-type"]?.contains("html") != true
        case 206: method == "GET"
        default: false
        }
    }
}

/// The server, and the user's login.
final class WebDAVConnection: Sendable {
    let address: WebDAVAddress
    let login: WebDAVLogin
    private let client: HTTPClient
    private let shown: Locked<HTTPLogin?>
    private let silence: Int
    private let answered = Locked<UInt64>(0)
    /// Whether to request the properties of Nextcloud and ownCloud; true until the server is known to be neither.
    let isCloud = Locked(true)

    /// - Parameters:
    ///   - shown: The server's authentication scheme, if known.
    ///   - silence: The timeout without a byte, in seconds.
    init(
        _ address: WebDAVAddress, _ login: WebDAVLogin, shown: HTTPLogin? = nil, silence: Int? = nil
    ) throws(ServerFailure) {
        (self.address, self.login, self.shown) = (address, login, Locked(shown))
        self.silence = silence ?? .max
        do throws(HTTPFailure) {
            client = try HTTPClient(authorities: address.authorities, connections: 16)
        } catch {
            throw ServerFailure(error)
        }
    }

    /// The number of finished requests.
    var count: UInt64 { answered.withLock { $0 } }

    /// The key of the recorded features: another user may have fewer rights.
    var server: String {
        guard case .password(let user, _) = login else { return address.description }
        return "\(user) \(address)"
    }

    /// Cancels all requests in flight, and all later ones.
    func close() { client.close() }

    /// Asks the server for its authentication scheme.
    func enter() async throws(WebDAVError) {
        // A server that allows reading without a login may require one for changes.
        let isHidden = address.isSecure || address.isLocal || address.mayShowPassword
        do throws(WebDAVError) {
            var request = WebDAVRequest("PROPFIND", [], headers: [("Depth", "0")])
            request.isFolder = true
            _ = try await send(request)
            guard case .password = login, isHidden else { return }
            try show(nil, isHidden: true)
        } catch {
            guard case .complaint(let complaint) = error, complaint.status == 401 else { throw error }
            try show(Challenge(complaint.challenge ?? ""), isHidden: isHidden)
        }
    }

    private func show(_ challenge: Challenge?, isHidden: Bool) throws(WebDAVError) {
        do throws(ServerFailure) {
            let login = try login.shown(challenge, isHidden: isHidden)
            shown.withLock { $0 = login }
        } catch {
            throw .failure(error)
        }
    }

    /// Sends a request whose answer means success.
    func send(_ request: WebDAVRequest) async throws(WebDAVError) -> HTTPAnswer {
        guard request.mayRepeat else { return try await sendOnce(request) }
        return try await repeating { () async throws(WebDAVError) in try await self.sendOnce(request) }
    }

    /// Makes a request that changes nothing, and repeats it a few times after transient failures.
    func repeating<Value>(_ body: () async throws(WebDAVError) -> Value) async throws(WebDAVError) -> Value {
        let begin = ContinuousClock.now
        var tries = 0
        while true {
            do throws(WebDAVError) { return try await body() } catch {
                tries += 1
                guard tries < 4, .now - begin < .seconds(10), let pause = Self.pause(after: error, tries) else {
                    throw error
                }
                // A cancelled task notices it at its next request.
                try? await Task.sleep(for: .seconds(pause))
                if Task.isCancelled { throw error }
            }
        }
    }

    /// The longest requested pause that is waited for here, in seconds.
    private static let longestPause = 2.0

    /// The number of seconds until a retry; nil if a retry makes no sense.
    private static func pause(after error: WebDAVError, _ tries: Int) -> Double? {
        switch error {
        case .complaint(let complaint):
            guard [429, 500, 502, 503, 504].contains(complaint.status) else { return nil }
            // A longer pause is left to the caller.
            if let pause = complaint.pause { return pause <= longestPause ? pause : nil }
        case .failure(.unreachable): break
        // A server that does not answer will not answer the retry either, and the caller is waiting.
        case .failure, .silence, .contentsEndEarly, .unwanted, .strange: return nil
        }
        return .random(in: 0.05...0.2 * Double(1 << tries))
    }

    private func sendOnce(_ request: WebDAVRequest) async throws(WebDAVError) -> HTTPAnswer {
        var made = HTTPRequest(
            request.method, address.url(request.names, isFolder: request.isFolder, isAbsolute: request.isAbsolute),
            headers: request.headers)
        (made.body, made.sink, made.sent) = (request.body, request.sink, request.sent)
        (made.longestAnswer, made.longestSilence) = (request.longestAnswer, min(request.longestSilence, silence))
        made.login = shown.withLock { $0 }
        made.isSentOnce = request.isChange
        defer { answered.withLock { $0 += 1 } }
        let answer: HTTPAnswer
        do throws(HTTPFailure) { answer = try await client.answer(to: made) } catch {
            switch error {
            case .contentsEndEarly: throw .contentsEndEarly
            case .unwanted: throw .unwanted
            case .silent(let text): throw .silence("\(SanitizedText.of(text))")
            default: throw .failure(ServerFailure(error))
            }
        }
        guard answer.head.isSuccess else { throw .complaint(WebDAVError.Complaint(answer)) }
        guard request.isDone(by: answer) else { throw .strange }
        return answer
    }
}
