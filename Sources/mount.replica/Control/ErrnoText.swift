import ReplicaControl
import ReplicaModel
import SystemPackage

/// The message and exit code for an errno.
enum ErrnoText {
    static func reason(_ errno: Errno) -> (code: ExitReason, words: String) {
        switch errno {
        case .noSuchFileOrDirectory: (.noSuchItem, "no such item")
        case .notDirectory: (.noSuchItem, "no such item: a parent is not a folder")
        case .permissionDenied: (.denied, "permission denied, or the store requires a login")
        case .notPermitted: (.denied, "operation not permitted")
        case .resourceBusy: (.busy, "it is in use")
        case .notSupported, .noFunction: (.unsupported, "not supported by the store or this system")
        case .noRouteToHost, .networkUnreachable: (.offline, "the store can't be reached")
        case .networkDown: (.offline, "the domain is disconnected; see 'replica connect'")
        case .interrupted: (.interrupted, "the request was cancelled")
        case .noSpace: (.failed, "no space is left on this disk")
        case .quotaExceeded: (.failed, "a quota is exceeded, here or in the store")
        case .readOnlyFileSystem: (.failed, "this disk is read-only")
        case .fileTooLarge: (.failed, "it is larger than this disk allows")
        case .stale: (.failed, "it was replaced in the meantime: try again")
        case .ioError: (.failed, "it could not be read or written; daemon.log may say why")
        default: (.failed, "\(errno)")
        }
    }
}
