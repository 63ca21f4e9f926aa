/// How long a connection may take for what it does, and how much it may bring.
package struct ConnectionLimits: Sendable {
    /// Between the start of ssh and the server's hello: logging in, by jump hosts too.
    package var hello = Duration.seconds(45)
    /// Without any answer while one is waited for.
    package var silence = Duration.seconds(60)
    /// Between a request and its answer, whatever else is answered.
    package var answer = Duration.seconds(600)
    /// Between the end of its input and SIGTERM, and from there to SIGKILL.
    package var farewell = Duration.seconds(2)
    /// The pause after a failure; each further one is twice as long.
    package var firstPause = Duration.seconds(1)
    package var longestPause = Duration.seconds(60)
    /// A connection that lasted so long was a good one: after it there is no pause.
    package var steady = Duration.seconds(10)

    /// Entries of one folder; one with more is an error of that folder.
    package var mostEntries = 1_000_000

    /// The usual ones.
    package init() {}
}
