import CLinux
import ChildProcess
import Glibc

/// The end of another process. Until then its threads may still hold files, though it has released its locks.
package struct ProcessEnd {
    private let handle: OwnedDescriptor

    /// - Returns: Nil if the process is gone already, or can't be watched: it is in another PID namespace.
    package init?(of process: Int32) {
        do { handle = try OwnedDescriptor(checking: Int32(cl_pidfd_open(Int(CL_SYS_PIDFD_OPEN), process, 0))) } catch {
            return nil
        }
    }

    /// Waits until all its threads have ended, which closes its files.
    /// - Returns: False if they have not after this many seconds.
    package func wait(seconds: Double) -> Bool {
        var descriptor = pollfd(fd: handle.raw, events: Int16(POLLIN), revents: 0)
        let end = ContinuousClock.now + .seconds(seconds)
        while true {
            let left = (end - .now) / .milliseconds(1)
            guard left > 0 else { return false }
            if poll(&descriptor, 1, Int32(left.rounded(.up))) > 0 { return true }
        }
    }
}
