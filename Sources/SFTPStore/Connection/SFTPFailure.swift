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

extension SFTPFailure {
    /// The failure of a request about the store's own directory.
    /// - Parameter missing: The failure where the server has nothing at the path.
    init(_ failure: RequestFailure, of address: SFTPAddress, missing: SFTPFailure) {
        switch failure {
        case .lost(let failure): self = failure
        case .cancelled: self = .unreachable("\(address): cancelled")
        case .status(let status) where status.code == .noSuchFile: self = missing
        case .status(let status): self = .refused("\(address): \(address.shownPath): \(status.words)")
        }
    }
}

extension SFTPAddress {
    /// The path for a message.
    var shownPath: String { String(decoding: path, as: UTF8.self) }
}
