import Testing

@testable import ReplicaModel

/// Extreme dates and sizes that any program may set.
@Suite struct TimestampTests {
    struct Row: Sendable, CustomStringConvertible {
        var seconds: Int64
        var nanoseconds: Int64
        var expected: Int64
        var description: String { "\(seconds) s \(nanoseconds) ns" }
    }

    static let rows = [
        Row(seconds: 0, nanoseconds: 0, expected: 0),
        Row(seconds: -1, nanoseconds: 999_999_999, expected: -1),
        Row(seconds: 9_223_372_036, nanoseconds: 854_775_807, expected: .max),
        Row(seconds: 9_223_372_036, nanoseconds: 854_775_808, expected: .max),
        // 2300-01-01: it showed as 1901.
        Row(seconds: 10_413_792_000, nanoseconds: 0, expected: .max),
        Row(seconds: .max, nanoseconds: 999_999_999, expected: .max),
        Row(seconds: -9_223_372_036, nanoseconds: 0, expected: -9_223_372_036_000_000_000),
        Row(seconds: -9_223_372_037, nanoseconds: 0, expected: .min),
        Row(seconds: .min, nanoseconds: 0, expected: .min),
    ]

    @Test(arguments: rows) func timesOutsideTheRangeAreClamped(row: Row) {
        let time = Timestamp(seconds: row.seconds, nanoseconds: row.nanoseconds)
        #expect(time.nanoseconds == row.expected)
    }

    @Test(arguments: [Int64.min, .min + 1, -1_000_000_001, -1_000_000_000, -1, 0, 1, 999_999_999, 1_000_000_000, .max])
    func secondsAndNanosecondsMakeTheTime(nanoseconds: Int64) {
        let time = Timestamp(nanoseconds: nanoseconds)
        #expect((0..<1_000_000_000).contains(time.subsecond))
        #expect(Timestamp(seconds: time.seconds, nanoseconds: time.subsecond) == time)
    }

    @Test func timesOfWrongClocksAreAccepted() {
        #expect(Timestamp(secondsSince1970: 1.5).nanoseconds == 1_500_000_000)
        #expect(Timestamp(secondsSince1970: -1.5).nanoseconds == -1_500_000_000)
        #expect(Timestamp(secondsSince1970: .infinity).nanoseconds == .max)
        #expect(Timestamp(secondsSince1970: -1e300).nanoseconds == .min)
    }

    @Test func sumsSaturate() {
        #expect(Int64.max.saturatingAdd(1) == .max)
        #expect(Int64.min.saturatingAdd(-1) == .min)
        #expect(Int64.max.saturatingAdd(-1) == .max - 1)
        #expect(Int64.min.saturatingSubtract(1) == .min)
        #expect(Int64(0).saturatingSubtract(.min) == .max)
        #expect(Int64(1).roundedUp(toMultipleOf: 4_096) == 4_096)
        #expect(Int64(4_096).roundedUp(toMultipleOf: 4_096) == 4_096)
        #expect((Int64.max - 1).roundedUp(toMultipleOf: 4_096) == .max)
    }
}
