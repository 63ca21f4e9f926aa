/// Why a bucket can't be used, each with one line for a person.
package enum S3Failure: Error, Hashable, Sendable {
    /// No answer, or none that can be understood: it may be better later.
    case unreachable(String)
    /// Whoever answers is not known to be the server.
    case untrusted(String)
    /// The keys are wrong, or not allowed to do this.
    case notAuthenticated(String)
    /// This will not work until something changes: there is no such bucket, say.
    case refused(String)
    /// The server asks for a pause of so many seconds.
    case busy(Double)
    case cancelled

    /// For a person.
    package var message: String {
        switch self {
        case .unreachable(let text), .untrusted(let text), .notAuthenticated(let text), .refused(let text): text
        case .busy: "the server has too much to do"
        case .cancelled: "cancelled"
        }
    }
}
