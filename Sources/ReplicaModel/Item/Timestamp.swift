/// A point in time as the kernel counts it.
public struct Timestamp: Hashable, Sendable, Codable, Comparable {
    /// Nanoseconds since 1970-01-01 00:00 UTC; negative before it.
    public var nanoseconds: Int64

    /// The time this many nanoseconds after the epoch.
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// The time in the two parts of a `timespec`.
    public init(seconds: Int64, nanoseconds: Int64) {
        self.nanoseconds = seconds &* 1_000_000_000 &+ nanoseconds
    }

    /// Whole seconds, rounded down.
    public var seconds: Int64 { (nanoseconds - subsecond) / 1_000_000_000 }
    /// The nanoseconds after ``seconds``, 0 to 999,999,999.
    public var subsecond: Int64 {
        let rest = nanoseconds % 1_000_000_000
        return rest < 0 ? rest + 1_000_000_000 : rest
    }

    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}
