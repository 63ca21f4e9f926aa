/// What a network, or what stands in it, does to one request.
package enum HTTPFault: String, Hashable, Sendable, CaseIterable {
    /// The connection is reset before the server has seen it.
    case lostRequest = "lost-request"
    /// Half of it reaches the server.
    case cutRequest = "cut-request"
    /// The server does it, and the connection is reset before the answer: a committed write that nobody knows of.
    case lostAnswer = "lost-answer"
    /// Something on the way sends it twice, as it has no answer to the first.
    case sentTwice = "sent-twice"
    /// Half of the answer comes: of its body, or of its head where it has none.
    case cutAnswer = "cut-answer"
    /// Nothing comes until the client has had enough; the server does not see it.
    case silence
    /// The same, and the server has done it.
    case silenceAfter = "silence-after"
    /// Half of the answer's body comes, and then nothing.
    case silenceWithin = "silence-within"
    /// The server fails, with words of S3's.
    case internalError = "500"
    /// What stands before the server has done with waiting for its answer, which was a success.
    case gatewayTimeout = "504-after"
    /// The server asks for a pause.
    case slowDown = "503"
    /// For longer than anybody waits.
    case longPause = "503-long"
    /// The same by the words of others.
    case tooMany = "429"
    /// Another's condition is being tested.
    case conflict = "409"
    /// Some Wi-Fi's page: login and accept.
    case portal
    /// The same where the page is what was asked for to be seen, by a redirect.
    case redirect
    /// A proxy's own page: it knows of no such thing.
    case noSuchPage = "404"

    /// Whether it takes as long as the client waits.
    package var takesLong: Bool { [.silence, .silenceAfter, .silenceWithin].contains(self) }

    /// What is answered in the server's place.
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
