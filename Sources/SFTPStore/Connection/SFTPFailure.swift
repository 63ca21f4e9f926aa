/// Why a server cannot be used now. Each text is one line for the user.
package enum SFTPFailure: Error, Hashable, Sendable {
    /// It can't be reached, does not answer, or gives invalid answers. That may be temporary.
    case unreachable(String)
    /// It rejects the login.
    case notAuthenticated(String)
    /// Its host key is unknown or has changed.
    case untrusted(String)
    /// There is nothing at the path.
    case missing(String)
    /// This will not work until something is changed.
    case refused(String)

    /// The message for users.
    package var message: String {
        switch self {
        case .unreachable(let text), .notAuthenticated(let text), .untrusted(let text), .missing(let text),
            .refused(let text):
            text
        }
    }
}
