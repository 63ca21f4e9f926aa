internal import CFuse

/// Going into the background so that the one who called sees whether it worked.
///
/// Call ``fork(failure:)`` from a synchronous `main`, before any thread, Task or Dispatch use: a later fork leaves a
/// child that hangs.
public struct Daemon: ~Copyable {
    let pipe: Int32

    /// Forks. The parent never returns: it exits 0 on ``ready()``, or as ``fail(_:status:)`` says with its text on
    /// stderr, or with `failure` when the child dies without a word. The child goes on in a session of its own.
    public static func fork(failure: Int32) throws(MountError) -> Daemon { fatalError() }

    /// Lets the parent exit 0, and leaves standard input, output and error (to /dev/null).
    public consuming func ready() { fatalError() }

    /// Lets the parent write `text` to stderr and exit with `status`. This process goes on and should exit.
    public consuming func fail(_ text: String, status: Int32) { fatalError() }
}
