/// What a store's process is allowed (STORE_PROTOCOL.md §11).
public struct ProcessLimits: Sendable {
    /// Between its start and its hello.
    public var hello = Duration.seconds(10)
    /// Without progress or answer of one call.
    public var silence = Duration.seconds(60)
    /// Between a call's cancellation and its answer.
    public var answerToCancel = Duration.seconds(10)
    /// Between the end of its input and SIGTERM.
    public var farewell = Duration.seconds(10)
    /// Between SIGTERM and SIGKILL.
    public var termination = Duration.seconds(5)
    /// Without a call, for a store that does not tell of changes.
    public var idle = Duration.seconds(300)
    /// The pause before the second start after a failure; each further one is twice as long.
    public var firstPause = Duration.seconds(1)
    public var longestPause = Duration.seconds(60)
    /// A run of this length ends the pauses.
    public var steady = Duration.seconds(60)
    /// In bytes, without the newline.
    public var longestLine = 4 << 20
    /// Bytes of ours that it has not read.
    public var longestQueue = 8 << 20
    public var signalsPerSecond = 1_000
    /// Lines of its standard error that are logged in ten seconds.
    public var errorLines = 100
    /// Bytes of such a line that are logged.
    public var errorLineLength = 500

    /// Whether this program becomes the store (``StoreLaunch``), as `mount.replica` can.
    public var isLaunched = false

    /// The limits of the protocol.
    public init() {}
}
