import Glibc
import ReplicaControl
import SystemPackage

/// A removal that was interrupted, or has failed. Only another removal can go on with the domain.
enum InterruptedRemoval {
    /// Whether one is left, and no process continues it now.
    static func isLeft(in domain: DomainLocation) -> Bool {
        access(domain.state.appending(StateFileName.removal.rawValue).string, F_OK) == 0
            && StateLock.awaitFree(state: domain.state, seconds: 0)
    }
}
