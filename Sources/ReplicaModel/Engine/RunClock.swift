internal import Glibc

/// The time of one run, in seconds since 1970: the wall clock's when the run began, and from then on what a clock counts
/// that nobody sets. So what is waited for comes, however the wall clock is set meanwhile. May be asked from any thread.
struct RunClock: Sendable {
    /// The wall clock.
    let wall: @Sendable () -> Double
    private let counted: @Sendable () -> Double
    private let begin: Double

    /// - Parameter counted: Seconds since some moment, never fewer than before.
    init(wall: @escaping @Sendable () -> Double, counted: @escaping @Sendable () -> Double) {
        (self.wall, self.counted) = (wall, counted)
        begin = wall() - counted()
    }

    /// The machine's; what it sleeps through counts too.
    init() {
        self.init(wall: { Self.seconds(of: CLOCK_REALTIME) }, counted: { Self.seconds(of: CLOCK_BOOTTIME) })
    }

    func now() -> Double { begin + counted() }

    /// A time of this run as the wall clock tells it, for people.
    func wallTime(of time: Double) -> Timestamp { Timestamp(secondsSince1970: wall() + (time - now())) }

    private static func seconds(of clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
