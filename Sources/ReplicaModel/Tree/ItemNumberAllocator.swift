/// The numbers that new items get, and template identifiers with them.
struct ItemNumberAllocator {
    /// How many numbers are reserved at a time: after a crash that many are skipped, so that none is used twice.
    private static let batch: UInt64 = 1 << 20

    /// The next number that was never used.
    private(set) var next: UInt64
    /// The database records that all numbers below this one may be in use.
    private var reserved: UInt64 = 0
    /// Whether items that had a number before may return.
    var hasFormer = false

    init(next: UInt64) { self.next = next }

    mutating func take() -> ItemNumber {
        defer { next += 1 }
        return ItemNumber(next)
    }

    /// The limit to record before more numbers are used; nil if the recorded one is sufficient.
    mutating func reserve() -> UInt64? {
        guard next + Self.batch / 2 > reserved else { return nil }
        reserved = next + Self.batch
        return reserved
    }

    /// The database could not be written.
    mutating func forgetReservation() { reserved = 0 }

    /// Skips numbers, as a crash does.
    mutating func skip(_ count: UInt64) { next += count }
}
