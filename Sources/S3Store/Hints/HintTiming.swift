/// How often a replica looks for changes that others tell of, and tells of its own.
package struct HintTiming: Sendable {
    /// Between two looks while the storage is used, and while it is not.
    package var (interval, idleInterval) = (Duration.seconds(3), Duration.seconds(60))
    /// How long after its last call the storage counts as used.
    package var use = Duration.seconds(60)
    /// From a change to its hint, and at least between two of them.
    package var (delay, spacing) = (Duration.milliseconds(300), Duration.seconds(3))
    /// From the last hint to its removal: long enough for every replica to look twice.
    package var life = Duration.seconds(150)
    /// After which others remove one that did not change: its writer has died.
    package var abandonment = Duration.seconds(600)
    /// After the server has refused one, until the next is tried.
    package var refusal = Duration.seconds(3_600)

    package init() {}
}
