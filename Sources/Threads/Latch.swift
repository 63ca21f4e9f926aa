/// Opens once and releases all waiting threads. For threads, never for tasks.
package final class Latch: Sendable {
    private let isOpen = Gate(false)

    package init() {}

    /// Releases all waiting threads, now and in future.
    package func open() { isOpen.withLock { $0 = true } }

    /// Blocks the thread until ``open()`` was called.
    package func wait() { isOpen.wait { $0 } }

    /// Blocks the thread until ``open()`` was called, but at most for this long.
    /// - Returns: Whether it was.
    package func wait(seconds: Double) -> Bool {
        isOpen.wait(seconds: seconds, until: { $0 }, { _, isOpen in isOpen })
    }
}
