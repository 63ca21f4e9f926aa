internal import ReplicaModel

/// Read-ahead for files that are not completely local.
struct ReadAhead {
    /// The alignment of fetches in bytes.
    private static let block: Int64 = 128 << 10
    /// The maximum size of a fetch in bytes.
    private static let most: Int64 = 16 << 20

    private var expected: Int64 = 0
    private var window = block

    /// The range to fetch for a read of `wanted`: twice as much as before if it continues where the last read ended.
    mutating func range(for wanted: Range<Int64>) -> Range<Int64> {
        window = wanted.lowerBound == expected ? min(window * 2, Self.most) : Self.block
        let start = wanted.lowerBound / Self.block * Self.block
        let end = max(wanted.upperBound, wanted.lowerBound.saturatingAdd(window))
        return start..<end.roundedUp(toMultipleOf: Self.block)
    }

    /// Records that `wanted` was read.
    mutating func advance(past wanted: Range<Int64>) {
        expected = wanted.upperBound
    }
}
