import CLinux
import Glibc
import SystemPackage

/// What the daemon's main thread waits for: a signal, the mount's end, or a request that ends the daemon.
/// One a process: signals belong to the process.
final class DaemonEnd: Sendable {
    /// Why the daemon ends.
    enum Reason: Equatable {
        /// SIGTERM, SIGINT or SIGHUP came.
        case signal(Int32)
        /// The mount went away (`umount`).
        case unmounted
        /// `unmount` or `remove` was answered.
        case requested
    }

    private static let signals = [SIGTERM, SIGINT, SIGHUP]

    /// Takes the signals over. SIGPIPE is ignored from here on: a client or a store that goes away is an error code.
    init() {
        // Made before a handler can need it.
        _ = endPipe
        for signal in Self.signals {
            Glibc.signal(signal) { number in
                var byte = UInt8(truncatingIfNeeded: number)
                _ = write(endPipe.writer, &byte, 1)
            }
        }
        Glibc.signal(SIGPIPE, SIG_IGN)
    }

    deinit {
        for signal in Self.signals { Glibc.signal(signal, SIG_DFL) }
    }

    /// Lets ``wait()`` return. From any thread, any number of times: the first reason counts.
    func end(_ reason: Reason) {
        var byte: UInt8 =
            switch reason {
            case .signal(let number): UInt8(truncatingIfNeeded: number)
            case .unmounted: 0xFE
            case .requested: 0xFF
            }
        _ = write(endPipe.writer, &byte, 1)
    }

    /// Blocks until there is a reason.
    func wait() -> Reason {
        var byte: UInt8 = 0
        while read(endPipe.reader, &byte, 1) != 1 {}
        switch byte {
        case 0xFE: return .unmounted
        case 0xFF: return .requested
        default: return .signal(Int32(byte))
        }
    }
}

/// A handler may write to a pipe and not much else.
private let endPipe: (reader: Int32, writer: Int32) = {
    var ends: [Int32] = [-1, -1]
    // Without this pipe the daemon could not be ended in order, so it must not start.
    precondition(cl_pipe2(&ends, O_CLOEXEC) == 0, "no pipe for signals")
    return (ends[0], ends[1])
}()
