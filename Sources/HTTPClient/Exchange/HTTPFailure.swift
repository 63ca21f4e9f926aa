/// Why there is no answer, in one line without secrets.
package enum HTTPFailure: Error, Hashable, Sendable {
    /// No connection, or it broke.
    case unreachable(String)
    /// Connected, but no bytes came within the timeout.
    case silent(String)
    /// The server's identity could not be verified.
    case untrusted(String)
    /// The answer is too long, or is not HTTP.
    case malformed(String)
    /// The file to send has fewer bytes than declared.
    case contentsEndEarly
    /// The sink aborted.
    case unwanted
    case cancelled
}
