internal import CFuse
internal import SystemPackage

/// Going into the background so that the one who called sees whether it worked.
///
/// Call ``fork(failure:)`` from a synchronous `main`, before any thread, Task or Dispatch use: a later fork leaves a
/// child that hangs.
public struct Daemon: ~Copyable, Sendable {
    private let pipe: Int32

    /// Forks. The parent never returns: it exits 0 on ``ready()``, or as ``fail(_:status:)`` says with its text on
    /// stderr, or with `failure` when the child dies without a word. The child goes on in a session of its own.
    public static func fork(failure: Int32) throws(MountError) -> Daemon {
        let pipe = cfuse_daemon_fork(failure)
        guard pipe >= 0 else { throw MountError("fork: \(Errno(rawValue: -pipe))") }
        return Daemon(pipe: pipe)
    }

    /// Lets the parent exit 0. Standard input, output and error become /dev/null, and `/` the working directory.
    public consuming func ready() {
        cfuse_daemon_detach()
        cfuse_daemon_report(pipe, 0, nil, 0)
    }

    /// Lets the parent write `text` to stderr and exit with `status`. This process goes on and should exit.
    public consuming func fail(_ text: String, status: Int32) {
        var text = text
        text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { cfuse_daemon_report(pipe, status, $0.baseAddress, $0.count) }
        }
    }
}
