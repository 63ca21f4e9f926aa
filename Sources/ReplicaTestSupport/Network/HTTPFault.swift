/// A fault of a network, or of a proxy in it, at one request.
package enum HTTPFault: String, Hashable, Sendable, CaseIterable {
    /// The connection is reset before the server has seen it.
    case lostRequest = "lost-request"
    /// Half of the request reaches the server.
    case cutRequest = "cut-request"
    /// The server carries it out, and the connection is reset before the answer: a committed but unacknowledged write.
    case lostAnswer = "lost-answer"
    /// A proxy sends it twice, because the first was not answered.
    case sentTwice = "sent-twice"
    /// Half of the answer comes: of its body, or of its head if it has no body.
    case cutAnswer = "cut-answer"
    /// No answer comes until the client times out; the server does not see the request.
    case silence
    /// The same, but the server has carried it out.
    case silenceAfter = "silence-after"
    /// Half of the answer's body comes, then nothing.
    case silenceWithin = "silence-within"
    /// Both directions are slow.
    case slow
    /// Both directions deliver a few bytes at a time.
    case throttled
    /// The server fails, with an error of S3.
    case internalError = "500"
    /// A gateway times out before the server's answer, which was a success.
    case gatewayTimeout = "504-after"
    /// The server requests a pause.
    case slowDown = "503"
    /// The server requests a pause that is longer than any client waits.
    case longPause = "503-long"
    /// The same in the form of other servers.
    case tooMany = "429"
    /// Another client's conditional request is being processed.
    case conflict = "409"
    /// A captive portal's page: log in and accept.
    case portal
    /// The same by a redirect.
    case redirect
    /// A proxy's own "not found" page.
    case noSuchPage = "404"

    /// Whether it takes as long as the client waits.
    package var takesLong: Bool { [.silence, .silenceAfter, .silenceWithin].contains(self) }

    /// The answer instead of the server's.
    var answer: HTTPMessage? {
        func words(_ code: String) -> String {
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Error><Code>\(code)</Code><Message>x</Message></Error>"
        }
        let (xml, html) = ("Content-Type: application/xml\r\n", "Content-Type: text/html\r\n")
        return switch self {
        case .internalError: .answer("500 Internal Server Error", xml, words("InternalError"))
        case .gatewayTimeout: .answer("504 Gateway Timeout", html, "<html><body>504</body></html>")
        case .slowDown: .answer("503 Slow Down", xml + "Retry-After: 1\r\n", words("SlowDown"))
        case .longPause: .answer("503 Slow Down", xml + "Retry-After: 120\r\n", words("SlowDown"))
        case .tooMany: .answer("429 Too Many Requests", html + "Retry-After: 1\r\n", "<html><body>429</body></html>")
        case .conflict: .answer("409 Conflict", xml, words("ConditionalRequestConflict"))
        case .portal: .answer("200 OK", html, "<html><body>Welcome! Please accept our terms.</body></html>")
        case .redirect: .answer("302 Found", html + "Location: http://127.0.0.1:1/login\r\n", "<html></html>")
        case .noSuchPage: .answer("404 Not Found", html, "<html><body>No such page.</body></html>")
        default: nil
        }
    }
}
