import Glibc
import ReplicaControl
import SystemPackage

/// The right to serve a domain: one daemon at a time has it, from before it touches the state until it ends, however
/// it ends. A lock on `STATE/lock`, which the system takes back by itself.
// The descriptor is only opened and closed.
final class DomainLock: Sendable {
    private let file: Int32

    /// Takes the lock, or throws `busy` where another daemon has it.
    init(state: FilePath) throws(ControlFailure) {
        file = open(state.appending("lock").string, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw ControlFailure(.failed, "\(state)/lock: \(Errno(rawValue: errno))") }
        if flock(file, LOCK_EX | LOCK_NB) != 0 {
            let reason = errno
            close(file)
            if reason == EWOULDBLOCK { throw ControlFailure(.busy, "another daemon serves \(state)") }
            throw ControlFailure(.failed, "\(state)/lock: \(Errno(rawValue: reason))")
        }
    }

    deinit {
        close(file)
    }
}
