import Glibc
package import SystemPackage

/// The lock of a domain's state (flock(2)), which its daemon holds until it has recorded everything.
package enum StateLock {
    /// Waits until no process serves the domain.
    /// - Returns: False if one does after this many seconds.
    package static func awaitFree(state: FilePath, seconds: Double) -> Bool {
        let file = state.appending("lock").withPlatformString { open($0, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) }
        // Without the file, there is no domain any more.
        guard file >= 0 else { return true }
        defer { close(file) }
        // A lock that can't be asked for is no reason to wait.
        return (try? TimeLimitedFlock.take(file, LOCK_SH, until: .now + .seconds(seconds))) ?? true
    }
}
