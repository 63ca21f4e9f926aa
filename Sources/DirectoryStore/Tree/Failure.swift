import Glibc
import ReplicaModel
import SystemPackage

/// What an errno means to the engine. Gone is only said where the caller has proof, so ENOENT is not decided here.
func failure(_ error: Errno, at path: @autoclosure () -> String) -> RemoteStoreError {
    switch error.rawValue {
    case ENOSPC, EDQUOT:
        return .insufficientQuota
    case EROFS:
        return .readOnly
    case ENOTCONN, ESTALE, ETIMEDOUT, EHOSTDOWN, EHOSTUNREACH, ENODEV, ENXIO:
        return .serverUnreachable
    case EMFILE, ENFILE, ENOMEM, ENOENT:
        // These pass; a name that is gone now was there a moment ago, and the next try sees what became of it.
        return .serverUnreachable
    case EIO, EACCES, EPERM, EAGAIN, EBUSY, ETXTBSY:
        // A bad block, a file of somebody else's, an immutable one, a lease: of this one, and it may pass.
        return .itemUnavailable("\(path()): \(error)")
    default:
        return .cannotSynchronize("\(path()): \(error)")
    }
}

/// Runs system calls and gives their failure the engine's meaning.
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
    /// Whether one file alone cannot be read now: a bad block, somebody else's file, a lease on it (fcntl(2)).
    var isOfOneFile: Bool {
        [.ioError, .permissionDenied, .resourceTemporarilyUnavailable, .resourceBusy, .textFileBusy].contains(self)
    }

    /// Whether the error proves that no entry of this name is there, or none that can be passed through.
    var provesAbsence: Bool {
        self == .noSuchFileOrDirectory || self == .notDirectory || self == .tooManySymbolicLinkLevels
    }
}
