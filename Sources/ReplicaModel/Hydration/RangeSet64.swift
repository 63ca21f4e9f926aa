/// A set of byte ranges of a file: sorted, disjoint, not adjacent, none empty.
struct RangeSet64: Hashable {
    private(set) var ranges: [Range<Int64>] = []

    init(_ ranges: [Range<Int64>] = []) {
        for range in ranges { insert(range) }
    }

    var isEmpty: Bool { ranges.isEmpty }
    /// The number of bytes in all ranges.
    var count: Int64 { ranges.reduce(0) { $0 + Int64($1.count) } }

    mutating func insert(_ range: Range<Int64>) {
        guard !range.isEmpty else { return }
        var merged = range
        var kept: [Range<Int64>] = []
        var after: [Range<Int64>] = []
        for old in ranges {
            if old.upperBound < merged.lowerBound {
                kept.append(old)
            } else if old.lowerBound > merged.upperBound {
                after.append(old)
            } else {
                merged = min(old.lowerBound, merged.lowerBound)..<max(old.upperBound, merged.upperBound)
            }
        }
        ranges = kept + [merged] + after
    }

    mutating func remove(_ range: Range<Int64>) {
        guard !range.isEmpty else { return }
        ranges = ranges.flatMap { here in
            [here.clamped(to: 0..<range.lowerBound), here.clamped(to: range.upperBound..<Int64.max)].filter {
                !$0.isEmpty
            }
        }
    }

    /// The parts of `range` that are not in the set, in order.
    func missing(in range: Range<Int64>) -> [Range<Int64>] {
        var gaps: [Range<Int64>] = []
        var start = range.lowerBound
        for here in ranges where here.overlaps(range) {
            if here.lowerBound > start { gaps.append(start..<here.lowerBound) }
            start = max(start, here.upperBound)
        }
        if start < range.upperBound { gaps.append(start..<range.upperBound) }
        return gaps
    }

    /// Removes everything from `size` on.
    mutating func truncate(to size: Int64) {
        ranges = ranges.compactMap { range in
            let kept = range.clamped(to: 0..<max(0, size))
            return kept.isEmpty ? nil : kept
        }
    }
}
