/// Why a server cannot be used now. Each text is one line for a person.
package enum SFTPFailure: Error, Hashable, Sendable {
    /// There is no way to it, or it does not answer, or nonsense. That may pass.
    case unreachable(String)
    /// It does not let this person in.
    case notAuthenticated(String)
    /// Its key is not known, or is another than before.
    case untrusted(String)
    /// This will not work until something is changed.
    case refused(String)

    /// The message for users.
    package var message: String {
        switch self {
        case .unreachable(let text), .notAuthenticated(let text), .untrusted(let text), .refused(let text): text
        }
    }
}
