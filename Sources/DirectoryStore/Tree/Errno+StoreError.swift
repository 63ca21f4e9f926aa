import Glibc
import ReplicaModel
import SystemPackage

/// Translates an errno for the engine. "Gone" requires proof by the caller, so ENOENT is not translated here.
func failure(_ error: Errno, at path: @autoclosure () -> String) -> RemoteStoreError {
    switch error.rawValue {
    case ENOSPC, EDQUOT:
        return .insufficientQuota
    case EROFS:
        return .readOnly
    case ENOTCONN, ESTALE, ETIMEDOUT, EHOSTDOWN, EHOSTUNREACH, ENODEV, ENXIO:
        return .serverUnreachable
    case EMFILE, ENFILE, ENOMEM, ENOENT:
        // Transient errors: a name that is gone now existed a moment ago, and the next attempt determines the new
        // state.
        return .serverUnreachable
    case EIO, EACCES, EPERM, EAGAIN, EBUSY, ETXTBSY:
        // A bad block, another user's file, an immutable file or a lease: an error of this file only, possibly
        // transient.
        return .itemUnavailable("\(path()): \(error)")
    default:
        return .cannotSynchronize("\(path()): \(error)")
    }
}

/// Runs system calls and translates their errors for the engine.
func at<Result>(
    _ path: @autoclosure () -> String, _ body: () throws(Errno) -> Result
) throws(RemoteStoreError) -> Result {
    do {
        return try body()
    } catch {
        throw failure(error, at: path())
    }
}

extension Errno {
    /// Whether only this file is currently unreadable: a bad block, another user's file, a lease (fcntl(2)).
    var isOfOneFile: Bool {
        [.ioError, .permissionDenied, .resourceTemporarilyUnavailable, .resourceBusy, .textFileBusy].contains(self)
    }

    /// Whether the error proves that there is no entry of this name, or none that can be traversed.
    var provesAbsence: Bool {
        self == .noSuchFileOrDirectory || self == .notDirectory || self == .tooManySymbolicLinkLevels
    }
}
