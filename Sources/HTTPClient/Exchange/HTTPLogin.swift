/// The user's credentials, with which libcurl answers the server's challenge. They never go to another server, because
/// redirects are not followed.
package enum HTTPLogin: Hashable, Sendable {
    /// Name and password in plain text, which only TLS protects.
    case basic(user: String, password: String)
    /// A proof of the password (RFC 7616), which takes a second request.
    case digest(user: String, password: String)
    /// A token (RFC 6750).
    case bearer(String)
}
