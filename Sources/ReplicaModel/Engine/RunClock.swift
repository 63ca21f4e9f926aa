internal import Glibc

/// The time of one run, in seconds since 1970: the wall clock's when the run began, and from then on that of a clock
/// that can't be set. So waits end as planned even if the wall clock is set. May be called from any thread.
struct RunClock: Sendable {
    /// The wall clock.
    let wall: @Sendable () -> Double
    private let counted: @Sendable () -> Double
    /// Seconds since any fixed moment, without the time in suspend.
    let awake: @Sendable () -> Double
    private let begin: Double

    /// - Parameters:
    ///   - counted: Seconds since any fixed moment; never decreases.
    ///   - awake: The same without the time in suspend; nil for `counted`.
    init(
        wall: @escaping @Sendable () -> Double, counted: @escaping @Sendable () -> Double,
        awake: (@Sendable () -> Double)? = nil
    ) {
        (self.wall, self.counted, self.awake) = (wall, counted, awake ?? counted)
        begin = wall() - counted()
    }

    /// The machine's clock; time in suspend counts too.
    init() {
        self.init(
            wall: { Self.seconds(of: CLOCK_REALTIME) }, counted: { Self.seconds(of: CLOCK_BOOTTIME) },
            awake: { Self.seconds(of: CLOCK_MONOTONIC) })
    }

    func now() -> Double { begin + counted() }

    /// A time of this run converted to the wall clock, for users.
    func wallTime(of time: Double) -> Timestamp { Timestamp(secondsSince1970: wall() + (time - now())) }

    private static func seconds(of clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
