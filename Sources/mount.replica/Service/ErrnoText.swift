import Glibc
import ReplicaControl
import SystemPackage

/// An errno for a person: what it means here, and the exit code for it.
enum ErrnoText {
    static func reason(_ errno: Errno) -> (code: ExitReason, words: String) {
        switch errno {
        case .noSuchFileOrDirectory: (.noSuchItem, "there is no such item")
        case .notDirectory: (.noSuchItem, "there is no such item: what is above it is no folder")
        case .permissionDenied: (.denied, "the system doesn't allow it, or the store wants a login")
        case .notPermitted: (.denied, "the system doesn't allow it")
        case .resourceBusy: (.busy, "it is in use")
        case .notSupported, .noFunction: (.unsupported, "the store or this system can't do it")
        case .noRouteToHost, .networkUnreachable: (.offline, "the store can't be reached")
        case .networkDown: (.offline, "the domain is disconnected; 'replica connect' ends that")
        case .interrupted: (.interrupted, "the request was cancelled")
        case .noSpace: (.failed, "no space is left on this disk")
        case Errno(rawValue: EDQUOT): (.failed, "a quota is used up, here or in the store")
        case .readOnlyFileSystem: (.failed, "this disk is read-only")
        case .fileTooLarge: (.failed, "it is larger than this disk allows")
        case Errno(rawValue: Glibc.ESTALE): (.failed, "it became another meanwhile: try again")
        case .ioError: (.failed, "it could not be read or written; daemon.log may say why")
        default: (.failed, "\(errno)")
        }
    }
}
