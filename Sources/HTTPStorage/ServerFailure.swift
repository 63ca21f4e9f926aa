internal import ChildProcess
package import HTTPClient
package import PathStore
package import ProcessStore

/// Why a server can't be used, each with one line for the user.
package enum ServerFailure: Error, Hashable, Sendable {
    /// No answer, or an invalid one: that may be temporary.
    case unreachable(String)
    /// The server's identity could not be verified.
    case untrusted(String)
    /// The login is wrong, or not allowed to do this.
    case notAuthenticated(String)
    /// This will not work until something changes, for example because the bucket or folder does not exist.
    case refused(String)
    /// The server asks for a pause of so many seconds.
    case busy(Double)
    case cancelled

    /// For the user.
    package var message: String {
        switch self {
        case .unreachable(let text), .untrusted(let text), .notAuthenticated(let text), .refused(let text): text
        case .busy: "the server is busy"
        case .cancelled: "cancelled"
        }
    }
}

extension ServerFailure {
    /// Why there was no answer.
    package init(_ failure: HTTPFailure) {
        switch failure {
        case .unreachable(let text), .silent(let text), .malformed(let text):
            self = .unreachable("\(SanitizedText.of(text))")
        case .untrusted(let text): self = .untrusted("\(SanitizedText.of(text))")
        case .contentsEndEarly, .unwanted, .cancelled: self = .cancelled
        }
    }

    /// The storage's error for a call.
    package var storageError: PathStorageError {
        switch self {
        case .unreachable(let text), .untrusted(let text): .unreachable(text)
        case .notAuthenticated(let text): .notAuthenticated(text)
        case .refused(let text): .unreachable(text)
        case .busy(let pause): .busy(seconds: pause)
        case .cancelled: .cancelled
        }
    }
}

extension StoreFailure {
    /// The error for opening a store.
    package init(_ failure: ServerFailure) {
        switch failure {
        case .unreachable(let text): self = .unreachable(text)
        case .untrusted(let text): self = .untrustedServer(text)
        case .notAuthenticated(let text): self = .notAuthenticated(text)
        case .refused(let text): self = .refused(text)
        case .busy(let pause): self = .busy(pause, failure.message)
        case .cancelled: self = .unreachable("the store was stopped")
        }
    }
}
