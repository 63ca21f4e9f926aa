import CLinux
import ChildProcess
import Glibc

/// Notifies the service manager that started this process of its state: sends sd_notify(3)'s lines as datagrams to the
/// socket in `NOTIFY_SOCKET`. The reasons against libsystemd are in docs/decisions/systemd.md. Safe from any thread.
struct NotifySocket: Sendable {
    /// The name in the environment.
    static let variable = "NOTIFY_SOCKET"
    /// The timeout in seconds for a service manager that does not read.
    private static let timeoutSeconds = 5

    /// The value of `sun_path`: a path, or an abstract name after a NUL.
    private let address: [UInt8]

    /// - Parameter text: The variable's value: an absolute path, or `@` and an abstract name.
    /// - Returns: Nil if it is not a valid address.
    init?(_ text: String) {
        var bytes = Array(text.utf8)
        guard bytes.count > 1, bytes.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path) else { return nil }
        switch bytes[0] {
        case UInt8(ascii: "/"): break
        case UInt8(ascii: "@"): bytes[0] = 0
        default: return nil
        }
        address = bytes
    }

    /// Sends lines of `NAME=VALUE`, all in one datagram.
    /// - Returns: 0 or an errno.
    @discardableResult
    func send(_ lines: [String]) -> Int32 {
        let socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { return errno }
        defer { close(socket) }
        var limit = timeval(tv_sec: Self.timeoutSeconds, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var target = sockaddr_un()
        target.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &target.sun_path) { $0.copyBytes(from: address) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + address.count)
        let text = Array(lines.joined(separator: "\n").utf8)
        let sent = withUnsafePointer(to: &target) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(socket, text, text.count, Int32(MSG_NOSIGNAL), $0, length)
            }
        }
        return sent < 0 ? errno : 0
    }

    /// The service is ready.
    static let ready = "READY=1"
    /// The service is alive: resets the watchdog.
    static let watchdog = "WATCHDOG=1"
    /// The service is ending.
    static let stopping = "STOPPING=1"

    /// `STATUS=TEXT`: names and paths may contain line breaks, which would begin another line.
    static func status(_ text: String) -> String {
        "STATUS="
            + String(String.UnicodeScalarView(text.unicodeScalars.map { SanitizedText.isHarmless($0) ? $0 : "?" }))
    }
}
