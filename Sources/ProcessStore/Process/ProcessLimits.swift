/// The limits of a store's process (STORE_PROTOCOL.md §11). Large: a limit in each field.
package struct ProcessLimits: Sendable {
    /// Between its start, or a line that it is still opening the store, and its hello.
    package var hello = Duration.seconds(10)
    /// Between its start and its hello, whatever it says.
    package var opening = Duration.seconds(300)
    /// Without progress or answer of one call.
    package var silence = Duration.seconds(60)
    /// Between a call's cancellation and its answer.
    package var answerToCancel = Duration.seconds(10)
    /// Between the end of its input and SIGTERM.
    package var farewell = Duration.seconds(10)
    /// Between SIGTERM and SIGKILL.
    package var termination = Duration.seconds(5)
    /// Without a call, for a store that does not signal changes.
    package var idle = Duration.seconds(300)
    /// The pause before the second start after a failure; each further one is twice as long.
    package var firstPause = Duration.seconds(1)
    package var longestPause = Duration.seconds(60)
    /// A run of this length ends the pauses.
    package var steady = Duration.seconds(60)
    /// In bytes, without the newline.
    package var longestLine = 4 << 20
    /// Bytes that it has not read yet.
    package var longestQueue = 8 << 20
    package var signalsPerSecond = 1_000
    /// The number of lines of its standard error that are logged in ten seconds.
    package var errorLines = 100
    /// The number of bytes of such a line that are logged.
    package var errorLineLength = 500

    /// Whether this program becomes the store (``StoreSandbox``), as `mount.replica` can.
    package var isLaunched = false

    /// The limits of the protocol.
    package init() {}
}
