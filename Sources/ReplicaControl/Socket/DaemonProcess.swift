import CLinux
import Glibc

/// The process of a daemon, to wait for its end. Taken before the request that ends it: later, another process may have its number.
package final class DaemonProcess {
    package let number: Int32
    private let handle: Int32

    /// Nil if the process is unknown, for example in another PID namespace, or has ended.
    package init?(of client: ControlClient) {
        guard let number = client.daemonProcess, number > 0 else { return nil }
        handle = Int32(truncatingIfNeeded: cl_call_at(Self.pidfdOpen, number, nil, 0, 0, 0, 0))
        guard handle >= 0 else { return nil }
        self.number = number
    }

    /// The number of pidfd_open(2), on all architectures. Its flags are 0.
    private static let pidfdOpen = 434

    deinit { close(handle) }

    /// Waits until the process has ended.
    /// - Returns: False if it has not after this many seconds.
    package func awaitEnd(seconds: Double) -> Bool {
        let end = ContinuousClock.now + .seconds(seconds)
        while true {
            var polled = pollfd(fd: handle, events: Int16(POLLIN), revents: 0)
            let left = max(.zero, end - ContinuousClock.now) / .milliseconds(1)
            let count = poll(&polled, 1, Int32(clamping: Int64(left.rounded(.up))))
            if count > 0 { return true }
            if count == 0 || errno != EINTR { return false }
        }
    }
}
