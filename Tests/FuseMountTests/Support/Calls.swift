import Threads

@testable import FuseMount

/// Counts the kernel's requests by kind.
final class Calls: Sendable {
    private let counts = Gate<[String: Int]>([:])

    func note(_ name: String) {
        counts.withLock { $0[name, default: 0] += 1 }
    }

    subscript(name: String) -> Int {
        counts.withLock { $0[name, default: 0] }
    }

    /// Waits until it was asked for that often.
    func wait(_ name: String, atLeast count: Int = 1) {
        counts.wait { $0[name, default: 0] >= count }
    }
}
