/// A point in time in the kernel's resolution, between the years 1677 and 2262. A time outside of this range is
/// clamped, as filesystems do with times that they can't store.
public struct Timestamp: Hashable, Sendable, Codable, Comparable {
    /// Nanoseconds since 1970-01-01 00:00 UTC; negative before it.
    public var nanoseconds: Int64

    /// The time this many nanoseconds after the epoch.
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// The time of a `timespec`, clamped to the range.
    public init(seconds: Int64, nanoseconds: Int64) {
        let (whole, isTooFar) = (seconds < 0 ? seconds + 1 : seconds).multipliedReportingOverflow(by: Self.second)
        let nearest: Int64 = seconds < 0 ? .min : .max
        // Before 1970, the second that was rounded away belongs to the fraction: the sum then overflows later.
        let rest = seconds < 0 ? nanoseconds - Self.second : nanoseconds
        self.nanoseconds = isTooFar ? nearest : whole.saturatingAdd(rest)
    }

    /// The time of a clock that counts seconds since 1970, clamped to the range.
    public init(secondsSince1970 seconds: Double) {
        let scaled = seconds * Double(Self.second)
        nanoseconds = Int64(exactly: scaled.rounded(.towardZero)) ?? (scaled < 0 ? .min : .max)
    }

    /// Precise to some hundred nanoseconds.
    var secondsSince1970: Double { Double(nanoseconds) / Double(Self.second) }

    private static let second: Int64 = 1_000_000_000

    /// Whole seconds, rounded down.
    public var seconds: Int64 { nanoseconds / Self.second - (nanoseconds % Self.second < 0 ? 1 : 0) }
    /// The nanoseconds after ``seconds``, 0 to 999,999,999.
    public var subsecond: Int64 {
        let rest = nanoseconds % Self.second
        return rest < 0 ? rest + Self.second : rest
    }

    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}
