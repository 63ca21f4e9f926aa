import Threads

/// A lower bound of the server's clock, from the times of its files.
final class ServerClock: Sendable {
    private let reading = Locked<(seconds: UInt32, at: ContinuousClock.Instant)?>(nil)

    /// A file that was written after `moment` has this modification time.
    func note(_ seconds: UInt32, at moment: ContinuousClock.Instant = .now) {
        reading.withLock { $0 = (seconds, moment) }
    }

    /// Whether a file written from now on will have a different time than this one, with a margin of two seconds for
    /// clocks that are set back.
    func hasPassed(_ seconds: UInt32) -> Bool {
        guard let (known, moment) = reading.withLock({ $0 }) else { return false }
        let passed = Double((ContinuousClock.now - moment) / .seconds(1))
        return Double(seconds) + 2 < Double(known) + passed
    }
}
