import Glibc
package import SystemPackage

/// flock(2) with a time limit, which the call itself does not have.
package enum TimeLimitedFlock {
    private static let pauseMicroseconds: UInt32 = 20_000

    /// Takes a lock, at once or when another process releases it.
    /// - Parameters:
    ///   - operation: `LOCK_EX` or `LOCK_SH`.
    ///   - deadline: A lock that is free is taken after it, too.
    /// - Returns: False if it is still held by others at the deadline.
    package static func take(
        _ descriptor: Int32, _ operation: Int32, until deadline: ContinuousClock.Instant
    ) throws(Errno) -> Bool {
        while flock(descriptor, operation | LOCK_NB) != 0 {
            let error = Errno(rawValue: errno)
            guard error == .wouldBlock || error == .interrupted else { throw error }
            guard ContinuousClock.now < deadline else { return false }
            usleep(pauseMicroseconds)
        }
        return true
    }
}
