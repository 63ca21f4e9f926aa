import HTTPClient
package import HTTPStorage
import PercentEncoding

/// The user's credentials.
package enum WebDAVLogin: Hashable, Sendable {
    case nothing
    case password(user: String, password: String)
    case token(String)

    /// From the lines of a file of credentials: `user=` and `password=`, or `token=`.
    /// - Parameter user: The user in the URL.
    /// - Throws: One line that says what is missing.
    package static func find(user: String?, secrets: [String: String]) throws(ServerFailure) -> WebDAVLogin {
        var values: [String: String] = [:]
        for (name, value) in secrets {
            values[name.lowercased()] = value.hasSuffix("\r") ? String(value.dropLast()) : value
        }
        if let token = values["token"], !token.isEmpty { return .token(try checked(token)) }
        let name = user ?? values["user"] ?? values["username"]
        switch (name, values["password"]) {
        case (let name?, let password?): return .password(user: try checked(name), password: try checked(password))
        case (nil, _?):
            throw .notAuthenticated(
                "the login has a password but no user: add user= to the file, or the user to the URL")
        case (_?, nil) where user == nil:
            throw .notAuthenticated("the login has a user but no password: add password= to the file")
        default: return .nothing
        }
    }

    /// It becomes part of a header.
    private static func checked(_ text: String) throws(ServerFailure) -> String {
        guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw .notAuthenticated("the login contains control characters")
        }
        return text
    }

    /// The form in which it is sent to a server.
    /// - Parameters:
    ///   - challenge: The server's challenge; nil before one was received.
    ///   - isHidden: Whether the connection is private.
    /// - Throws: If the server requires another scheme.
    func shown(_ challenge: Challenge?, isHidden: Bool) throws(ServerFailure) -> HTTPLogin? {
        switch self {
        case .nothing:
            guard challenge == nil else {
                throw .notAuthenticated(
                    "the server requires a login: run replica login, or give a file with user= and password= (--credentials, -o credentials=)"
                )
            }
            return nil
        case .token(let token):
            guard isHidden else { throw Self.inTheOpen }
            return .bearer(token)
        case .password(let user, let password):
            // Over TLS, the scheme with fewer requests.
            if let challenge, challenge.takesDigest, !isHidden || !challenge.takesBasic {
                return .digest(user: user, password: password)
            }
            if let challenge, !challenge.takesBasic {
                throw .notAuthenticated("the server does not accept passwords: it asks for \(challenge.words)")
            }
            guard isHidden else { throw Self.inTheOpen }
            return .basic(user: user, password: password)
        }
    }

    private static var inTheOpen: ServerFailure {
        .refused("the password would be sent unencrypted: use davs://, or add ?clear=yes to the URL")
    }
}

/// The authentication schemes of a server, from its `WWW-Authenticate` headers.
struct Challenge: Hashable, Sendable {
    let takesBasic: Bool
    let takesDigest: Bool
    /// For the user.
    let words: String

    init(_ header: String) {
        // A scheme is a word without `=`; its parameters contain one.
        let words = header.split(whereSeparator: { $0 == "," || $0 == " " }).filter { !$0.contains("=") }.map {
            $0.lowercased()
        }
        takesBasic = words.contains("basic")
        takesDigest = words.contains("digest")
        self.words = String(
            words.filter { $0.utf8.allSatisfy(PercentText.isAlphanumeric) }.joined(separator: ", ").prefix(60))
    }
}
