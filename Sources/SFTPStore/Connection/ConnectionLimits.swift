/// The time and size limits of a connection.
package struct ConnectionLimits: Sendable {
    /// Between the start of ssh and the server's hello: includes the login, also through jump hosts.
    package var hello = Duration.seconds(45)
    /// Without any answer while one is pending.
    package var silence = Duration.seconds(60)
    /// Between a request and its answer, even if other requests are answered.
    package var answer = Duration.seconds(600)
    /// Between the end of its input and SIGTERM, and again until SIGKILL.
    package var farewell = Duration.seconds(2)
    /// The pause after a failure; each further one is twice as long.
    package var firstPause = Duration.seconds(1)
    package var longestPause = Duration.seconds(60)
    /// After a connection that lasted this long there is no pause.
    package var steady = Duration.seconds(10)

    /// The maximum number of entries of a folder; a larger folder is an error of that folder.
    package var mostEntries = 1_000_000

    /// The default limits.
    package init() {}
}
