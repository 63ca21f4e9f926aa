import Glibc
import ReplicaControl
import ReplicaModel
import SystemPackage

/// The message for a failed request: its subject, and the reason.
struct FailureText {
    /// The request.
    let request: ControlRequest
    let domain: DomainName

    /// The failure for an error; a `ControlFailure` is unchanged.
    func failure(_ error: any Error) -> ControlFailure {
        switch error {
        case let failure as ControlFailure: failure
        case is CancellationError: ControlFailure(.interrupted, "the request was cancelled")
        case let errno as Errno: named(reason(errno))
        case let error as ItemError: named((.refused, "\(error.message) (\(error.code))"))
        case RemoteStoreError.syncAnchorExpired where request.since != nil:
            named((.anchorExpired, "the anchor has expired or belongs to another list; start again with --since ''"))
        case let error as RemoteStoreError: named((.failed, error.message))
        case let error as DatabaseFailure: named((.failed, error.message))
        default: named((.failed, "\(error)"))
        }
    }

    /// The meaning of the errno for this request.
    private func reason(_ errno: Errno) -> (code: ExitReason, words: String) {
        switch (request, errno) {
        case (.resolve, .invalidArgument): (.refused, "there is no conflict; see 'replica conflicts'")
        case (.forget, .invalidArgument): (.refused, "only a folder can be forgotten; 'replica evict' is for files")
        case (.resend, .noData): (.refused, "the content is not local, or it is not a file")
        case (.resend, .invalidArgument): (.refused, "it has no such field")
        default: ErrnoText.reason(errno)
        }
    }

    private func named(_ reason: (code: ExitReason, words: String)) -> ControlFailure {
        ControlFailure(reason.code, "\(subject): \(reason.words)")
    }

    /// `NAME`, or `NAME:PATH` as accepted by `replica`.
    private var subject: String {
        guard let path = request.path, path != .root else { return domain.text }
        return "\(domain):\(path)"
    }
}
