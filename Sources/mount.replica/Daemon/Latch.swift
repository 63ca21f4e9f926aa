import CLinux
import Glibc

/// Opens once; whoever waits goes on then. For threads, never for tasks.
final class Latch: Sendable {
    // The semaphore is made for use by several threads.
    private nonisolated(unsafe) let semaphore: UnsafeMutablePointer<sem_t>

    init() {
        semaphore = .allocate(capacity: 1)
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func open() { sem_post(semaphore) }

    /// Blocks the thread until ``open()`` was called.
    func wait() {
        while sem_wait(semaphore) != 0 {}
        sem_post(semaphore)
    }

    /// Blocks the thread until ``open()`` was called, for this long at the most. Returns whether it was.
    func wait(seconds: Double) -> Bool {
        var end = timespec()
        clock_gettime(CLOCK_MONOTONIC, &end)
        let nanoseconds = end.tv_nsec + Int(seconds.truncatingRemainder(dividingBy: 1) * 1e9)
        end.tv_sec += Int(seconds) + nanoseconds / 1_000_000_000
        end.tv_nsec = nanoseconds % 1_000_000_000
        while cl_sem_clockwait(semaphore, CLOCK_MONOTONIC, &end) != 0 {
            if errno != EINTR { return false }
        }
        sem_post(semaphore)
        return true
    }
}
