/// Why a store of a process cannot be used now. Each text is one line for the user.
package enum StoreFailure: Error, Hashable, Sendable {
    /// It does not run, does not answer, or gives invalid answers. That may be temporary.
    case unreachable(String)
    /// The user must log in.
    case notAuthenticated(String)
    /// This URL will not work until something is changed.
    case refused(String)
    /// The server's identity could not be verified.
    case untrustedServer(String)
    /// The server asks for a pause of so many seconds.
    case busy(Double, String)

    /// The message for users.
    package var message: String {
        switch self {
        case .unreachable(let text), .notAuthenticated(let text), .refused(let text), .untrustedServer(let text): text
        case .busy(_, let text): text
        }
    }

    /// The failure for a store's error in answer to the hello.
    init(_ error: WireError) {
        let text = error.text
        self =
            switch error.code {
            case "notAuthenticated": .notAuthenticated(text ?? "the store requires a login")
            case "cannotSynchronize", "unsupported": .refused(text ?? "the store rejects this URL")
            case "untrustedServer": .untrustedServer(text ?? "the server cannot be trusted")
            case "busy": .busy(error.pause, text ?? "the server is busy")
            default: .unreachable(text ?? "the store can't be reached")
            }
    }
}
